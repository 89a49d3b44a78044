"""A build hook of hatchling: the wheel's bill of materials, CycloneDX 1.7, in .dist-info/sboms (PEP 770).

It names the distribution, what it holds that was made elsewhere, and what it asks for. Nothing in it depends
on the time or the machine, so that two wheels of one tree are equal.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.requirements import Requirement

LETTER = {
    "type": "data",
    "bom-ref": "letter",
    "name": "Letter Recognition (fast/data/letter.npz)",
    "publisher": "UCI Machine Learning Repository, D. Slate, 1991",
    "licenses": [{"license": {"id": "CC-BY-4.0"}}],
    "externalReferences": [{"type": "website", "url": "https://doi.org/10.24432/C5ZP40"}],
}


def bill(name: str, version: str, expression: str, dependencies: list[str]) -> dict[str, Any]:
    """The document: `dependencies` as pyproject.toml writes them."""
    own = f"pkg:pypi/{name}@{version}"
    needs = [Requirement(each) for each in dependencies]
    asked = [
        {
            "type": "library",
            "bom-ref": f"pkg:pypi/{need.name}",
            "name": need.name,
            "purl": f"pkg:pypi/{need.name}",
            "scope": "required",
            "isExternal": True,
            "versionRange": "vers:pypi/" + "|".join(sorted(map(str, need.specifier))),
        }
        for need in needs
    ]
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.7.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.7",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": own,
                "name": name,
                "version": version,
                "purl": own,
                "licenses": [{"expression": expression}],
            }
        },
        "components": [LETTER, *asked],
        "dependencies": [{"ref": own, "dependsOn": [LETTER["bom-ref"], *(a["bom-ref"] for a in asked)]}],
    }


class Sbom(BuildHookInterface):
    """Add the bill to a wheel; an editable install has none."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the bill and name it to the builder."""
        if self.target_name != "wheel" or version == "editable":
            return
        core = self.metadata.core
        self.folder = tempfile.TemporaryDirectory()
        path = Path(self.folder.name, f"{core.name}.cdx.json")
        text = bill(core.name, self.metadata.version, core.license_expression, core.dependencies)
        path.write_text(json.dumps(text, indent=1) + "\n", encoding="utf-8")
        path.chmod(0o644)
        build_data["sbom_files"].append(str(path))

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was copied into the wheel."""
        if hasattr(self, "folder"):
            self.folder.cleanup()
