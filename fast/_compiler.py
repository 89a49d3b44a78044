"""Kernels that call kernels: each is translated once, and what Python calls is optimised once, as a whole.

numba makes of every function a library of its own: optimised, turned into machine code and stored, then
linked to each function that calls it, and optimised there again, with all that it calls. Here a callee is
a `Part`, which is none of this; a `Whole` takes in all parts that it needs.
"""

from typing import Any

import llvmlite.binding as llvm
from numba.core import compiler
from numba.core import event as ev
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.runtime import rtsys
from numba.core.sigutils import normalize_signature
from numba.core.types.misc import unliteral
from numba.core.typing import make_concrete_template

_STUB = 'define void @"{}"() {{ ret void }}'


class Whole(JITCodeLibrary):
    """What Python calls, with all kernels below it."""

    def add_linking_library(self, library: Any) -> None:
        """Nothing here counts references: numba's code for that is left out."""
        if library is not rtsys._library:
            super().add_linking_library(library)

    def add_ir_module(self, ir_module: Any) -> None:
        """Take in translated code; what reads Python's arguments runs once a call and is not optimised."""
        for function in ir_module.functions:
            if ir_module.name == "wrapper" and not function.is_declaration:
                function.attributes.add("noinline")
                function.attributes.add("optnone")
        super().add_ir_module(ir_module)

    def _optimize_final_module(self) -> None:
        found = self._codegen._module_pass_manager()
        passes, *builder = found if isinstance(found, tuple) else (found,)  # numba 0.61: no builder
        with self._recorded_timings.record("Module passes (full optimization)", *builder):
            passes.run(self._final_module, *builder)

    def _get_module_for_linking(self) -> Any:
        """Names alone, for the cache: kernels that call this one have it as a part."""
        module = self._final_module
        names = {
            one.name
            for group in (module.functions, module.global_variables)
            for one in group
            if not one.is_declaration
        }
        return llvm.parse_assembly("\n".join(map(_STUB.format, sorted(names))))


class Part(Whole):
    """A kernel as other kernels call it: typed, and no machine code."""

    def finalize(self) -> None:
        """Take in what this one calls; all else is left to the whole."""
        for library in dict.fromkeys(self._linking_libraries):
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True

    def _get_module_for_linking(self) -> Any:
        return JITCodeLibrary._get_module_for_linking(self)


class Pipeline(compiler.Compiler):
    """numba's compiler, with libraries of our own."""

    def __init__(self, typing: Any, target: Any, library: Any, args: Any, *rest: Any) -> None:
        if library is None:
            library = Whole(target.codegen(), "kernel")
            library.enable_object_caching()
        super().__init__(typing, target, library, args, *rest)


class KernelDispatcher(CPUDispatcher):
    """A dispatcher that other kernels get parts of."""

    def _compilation_chain_init_hook(self) -> None:
        """Nothing: other packages' types are not passed to kernels, and looking for them takes long."""

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """How another kernel calls this one; 3 is an integer like any other."""
        pysig, args = self._compiler.fold_argument_types(args, kws)
        args = tuple(map(unliteral, args))
        parts = self.__dict__.setdefault("parts", {})
        if args not in parts:
            parts[args] = self._part(args)
        name = self.py_func.__name__
        signatures = [part.signature for part in parts.values()]
        template = make_concrete_template(f"CallTemplate({name})", name, signatures)
        return template, pysig, args, {}

    def get_overload(self, sig: Any) -> Any:
        """What numba finds the code of a part by."""
        return self.parts[tuple(normalize_signature(sig)[0])].fndesc

    def _part(self, args: Any) -> Any:
        data = {"dispatcher": self, "args": args, "return_type": None}
        with global_compiler_lock, ev.trigger_event("numba:compile", data=data):
            flags = compiler.Flags()
            self.targetdescr.options.parse_as_flags(flags, self.targetoptions)
            flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
            library = Part(self.targetctx.codegen(), self.py_func.__name__)
            found = compiler.compile_extra(
                self.typingctx, self.targetctx, self.py_func, args, None, flags, {}, library
            )
            self.targetctx.insert_user_function(found.fndesc, found.fndesc, [found.library])
            return found
