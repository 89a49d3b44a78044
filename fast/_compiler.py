"""Kernels that call kernels: each is translated once, and what Python calls is optimised once, as a whole.

numba makes of every function a library of its own: optimised, turned into machine code and stored, then
linked to each function that calls it, and optimised there again, with all that it calls. Here a callee is
a `Part`, which is none of this; a `Whole` takes in all parts that it needs.
"""

import gc
import operator
from typing import Any, ClassVar

import llvmlite.binding as llvm
from numba.core import compiler, types
from numba.core import event as ev
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import PassManager
from numba.core.cpu import CPUContext
from numba.core.registry import CPUDispatcher
from numba.core.runtime import rtsys
from numba.core.sigutils import normalize_signature
from numba.core.targetconfig import ConfigStack
from numba.core.types.misc import unliteral
from numba.core.typing import Context, make_concrete_template

_STUB = 'define void @"{}"() {{ ret void }}'
#: Passes of numba's that change nothing in a kernel, which has no closure, ``with``, expression of whole
#: arrays, ``literally`` or ``isinstance``; and the annotated listing, which nothing here prints.
IDLE = {
    "WithLifting", "InlineClosureLikes", "RewriteDynamicRaises", "MakeFunctionToJitFunction", "FindLiterallyCalls",
    "LiteralUnroll", "LiteralPropagationSubPipelinePass", "InlineOverloads", "NopythonRewrites",
    "NoPythonSupportedFeatureValidation", "AnnotateTypes", "DumpParforDiagnostics",
}  # fmt: skip
#: What numba compiles its own functions for depends on these flags of the caller, and on the types.
INHERITED = "nrt", "fastmath", "error_model", "forceinline"


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


class Flags(compiler.Flags):
    """numba's flags, of which those that were set tell two apart; it asks thousands of times."""

    __slots__ = ()

    def values(self) -> dict[str, Any]:
        """Those that were set."""
        return dict(self._values)


class Typing(Context):
    """numba's typing context, which remembers what its own functions return: numba tries all meanings
    of + (of strings, lists, sets, arrays ...) at each call, and again for each function.
    """

    known: ClassVar[dict[Any, tuple]] = {}
    attributes: ClassVar[dict[Any, Any]] = {}

    def _resolve_user_function_type(
        self, func: Any, args: Any, kws: Any, literals: Any = None
    ) -> Any:
        function = self._lookup_global(func) or func
        if type(function) is types.Function and not kws:
            return self._returned(function, args)
        return super()._resolve_user_function_type(func, args, kws, literals)

    def resolve_setitem(self, target: Any, index: Any, value: Any) -> Any:
        """The signature of ``target[index] = value``."""
        return self._returned(self.resolve_value_type(operator.setitem), (target, index, value))

    def resolve_getattr(self, typ: Any, attr: str) -> Any:
        """The type of an attribute."""
        found = self.attributes.get((typ, attr))
        if found is None:
            self.attributes[typ, attr] = found = super().resolve_getattr(typ, attr)
        return found

    def _returned(self, function: Any, args: Any) -> Any:
        flags = ConfigStack.top_or_none()
        key = function, tuple(args), *(str(getattr(flags, name)) for name in INHERITED)
        if key in self.known:
            signature, made = self.known[key]
            function._impl_keys[signature.args] = made  # what was compiled for these flags
            return signature
        signature = function.get_call_type(self, args, {})
        if signature is not None:
            self.known[key] = signature, function._impl_keys[signature.args]
        return signature


class Target(CPUContext):
    """numba's target context, which at each access to an array looks for an ``__array__`` that there is not,
    and then for new functions in all of numba.
    """

    sizes: ClassVar[dict[Any, int]] = {}

    def get_function(self, fn: Any, sig: Any, _firstcall: bool = True) -> Any:
        """The translation of a call."""
        return super().get_function(fn, sig, _firstcall and fn != "__array__")

    def get_abi_sizeof(self, ty: Any) -> int:
        """Bytes of a type, for which LLVM reads a module each time."""
        if ty not in self.sizes:
            self.sizes[ty] = super().get_abi_sizeof(ty)
        return self.sizes[ty]


def sharing(context: Any, kind: Any) -> Any:
    """The same context, of another class."""
    made = kind.__new__(kind)
    made.__dict__ = context.__dict__
    return made


class Pipeline(compiler.Compiler):
    """numba's compiler, with libraries of our own, and only those of its passes that kernels need."""

    def __init__(
        self, typing: Any, target: Any, library: Any, args: Any, result: Any, flags: Any, names: Any
    ) -> None:
        if library is None:
            library = Whole(target.codegen(), "kernel")
            library.enable_object_caching()
        flags = Flags(flags)
        flags.no_cfunc_wrapper = True  # for kernels as values, which none is
        contexts = sharing(typing, Typing), sharing(target, Target)
        super().__init__(*contexts, library, args, result, flags, names)

    def define_pipelines(self) -> list:
        """One list of passes, without those that would change nothing."""
        (found,) = super().define_pipelines()
        passes = PassManager(found.pipeline_name)
        passes.passes = [one for one in found.passes if one[0].__name__ not in IDLE]
        passes.finalize()
        return [passes]


class KernelDispatcher(CPUDispatcher):
    """A dispatcher that other kernels get parts of."""

    def _compilation_chain_init_hook(self) -> None:
        """Nothing: other packages' types are not passed to kernels, and looking for them takes long."""

    def compile(self, sig: Any) -> Any:
        """The machine code for these types; nothing that is made for it can be freed before it is there."""
        collecting = gc.isenabled()
        gc.disable()
        try:
            return super().compile(sig)
        finally:
            if collecting:
                gc.enable()

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
            context = self.typingctx, self.targetctx
            found = compiler.compile_extra(
                *context, self.py_func, args, None, flags, {}, library, Pipeline
            )
            self.targetctx.insert_user_function(found.fndesc, found.fndesc, [found.library])
            return found
