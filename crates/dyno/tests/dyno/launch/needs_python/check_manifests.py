"""Checks the manifests of launch/ against the schemas of what reads them, with unknown fields denied, and
that the numbers in them agree. Prints a line for each mistake; the status is 1 if there is one.

    python check_manifests.py KUBERNETES-VERSION,… FILE… [-- FILE…]

Files on both sides of `--` are not compared with each other.
"""
import importlib.resources
import json
import sys

import jsonschema
import kubernetes_validate
import yaml
from kubeflow_trainer_api.models import JobsetV1alpha2JobSet

versions = sys.argv[1].split(",")
mistakes = []


def path(error):
    return ".".join(map(str, error.absolute_path))


def kubernetes(name, resource):
    for version in versions:
        try:
            kubernetes_validate.validate(resource, version, strict=True)
        except kubernetes_validate.ValidationError as error:
            mistakes.append(f"{name}: Kubernetes {version}: {path(error)}: {error.message}")


def lost(given, kept, at=""):
    """Fields that a model does not have are dropped by it."""
    if isinstance(given, dict) and isinstance(kept, dict):
        for key, value in given.items():
            if key not in kept:
                yield f"{at}{key}: there is no such field"
            else:
                yield from lost(value, kept[key], f"{at}{key}.")
    elif isinstance(given, list) and isinstance(kept, list):
        for i, (one, other) in enumerate(zip(given, kept)):
            yield from lost(one, other, f"{at}{i}.")


def jobset(name, resource):
    """JobSet's own fields by its published model; the jobs in it by Kubernetes' schema."""
    try:
        kept = JobsetV1alpha2JobSet.from_dict(resource).to_dict()
    except ValueError as error:
        mistakes.append(f"{name}: {error}")
        return
    mistakes.extend(f"{name}: {what}" for what in lost(resource, json.loads(json.dumps(kept, default=str))))
    names = [job["name"] for job in resource["spec"]["replicatedJobs"]]
    for job in resource["spec"]["replicatedJobs"]:
        kubernetes(f"{name}: {job['name']}", {"apiVersion": "batch/v1", "kind": "Job", **job["template"]})
        for other in job.get("dependsOn", []):
            if other["name"] not in names[: names.index(job["name"])]:
                mistakes.append(f"{name}: {job['name']} depends on {other['name']}, which is not before it")


def compose(name, document):
    folder = importlib.resources.files("check_jsonschema") / "builtin_schemas/vendor/compose-spec.json"
    validator = jsonschema.validators.validator_for(json.loads(folder.read_text()))
    for error in validator(json.loads(folder.read_text())).iter_errors(document):
        mistakes.append(f"{name}: {path(error)}: {error.message}")


def jobs(resource):
    if resource["kind"] == "Job":
        yield resource["spec"]
    elif resource["kind"] == "JobSet":
        yield from (job["template"]["spec"] for job in resource["spec"]["replicatedJobs"])


def agree(name, resources):
    """As many agents are called as there are, each with whole cores of its own."""
    agents, called, images = set(), set(), set()
    for job in [job for resource in resources for job in jobs(resource)]:
        container = job["template"]["spec"]["containers"][0]
        images.add(container["image"])
        arguments = container.get("args", [])
        if arguments[:1] == ["agent"]:
            agents.update([job["completions"], job["parallelism"]])
            limits, requests = container["resources"]["limits"], container["resources"]["requests"]
            if limits != requests or not limits["cpu"].isdigit():
                mistakes.append(f"{name}: agents do not have whole cores of their own: {container['resources']}")
        called.update(int(a.split("=")[1]) for a in arguments if a.startswith("--agents="))
    if len(agents) != 1 or agents != called:
        mistakes.append(f"{name}: there are {sorted(agents)} agents, and {sorted(called)} are called")
    if len(images) != 1:
        mistakes.append(f"{name}: not all images are the same: {sorted(images)}")


def check(files):
    resources = []
    for file in files:
        with open(file) as text:
            documents = [document for document in yaml.safe_load_all(text) if document]
        if not documents:
            mistakes.append(f"{file}: there is nothing in it")
        for document in documents:
            if "services" in document:
                compose(file, document)
                continue
            resources.append(document)
            name = f"{file}: {document['kind']} {document['metadata']['name']}"
            (jobset if document["kind"] == "JobSet" else kubernetes)(name, document)
    if resources:
        agree(files[0], resources)


group = []
for argument in sys.argv[2:] + ["--"]:
    if argument != "--":
        group.append(argument)
    elif group:
        check(group)
        group = []
print("\n".join(mistakes) or "no mistakes")
sys.exit(bool(mistakes))
