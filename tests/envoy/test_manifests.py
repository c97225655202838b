"""The manifests are YAML, and say what docs/envoy.md asks for."""

import tomllib
import unittest
from pathlib import Path

import yaml

FOLDER = Path(__file__).parent.parent.parent / "examples" / "kubernetes"


def documents(name):
    return {document["kind"]: document for document in yaml.safe_load_all((FOLDER / name).read_text())}


class Manifests(unittest.TestCase):
    def setUp(self):
        self.policies = documents("policies.yaml")

    def test_every_file_is_read(self):
        self.assertEqual(sorted(path.name for path in FOLDER.iterdir()), ["envoy-gateway.yaml", "policies.yaml"])
        self.assertEqual(list(self.policies), ["ConfigMap", "Deployment", "Service", "NetworkPolicy"])

    def test_ports_are_those_of_the_file(self):
        file = tomllib.loads(self.policies["ConfigMap"]["data"]["gateway.toml"])
        container = self.policies["Deployment"]["spec"]["template"]["spec"]["containers"][0]
        ports = {port["name"]: port["containerPort"] for port in container["ports"]}
        self.assertEqual(file["envoy"]["listen"], f"0.0.0.0:{ports['grpc']}")
        self.assertEqual(file["admin"], f"0.0.0.0:{ports['admin']}")
        self.assertEqual(self.policies["Service"]["spec"]["ports"][0]["port"], ports["grpc"])

    def test_what_is_open_is_finished_before_the_pod_is_killed(self):
        file = tomllib.loads(self.policies["ConfigMap"]["data"]["gateway.toml"])
        grace = self.policies["Deployment"]["spec"]["template"]["spec"]["terminationGracePeriodSeconds"]
        self.assertLess(int(file["envoy"]["drain"].rstrip("s")), grace)

    def test_envoy_gateway_fails_closed_in_full_duplex(self):
        (processor,) = documents("envoy-gateway.yaml")["EnvoyExtensionPolicy"]["spec"]["extProc"]
        self.assertIs(processor["failOpen"], False)
        modes = {side: mode["body"] for side, mode in processor["processingMode"].items()}
        self.assertEqual(modes, {"request": "FullDuplexStreamed", "response": "FullDuplexStreamed"})
        self.assertEqual(processor["backendRefs"][0], {"name": "policies", "port": 50051})


if __name__ == "__main__":
    unittest.main()
