"""Daemons with settings that `heddle yarn up` does not offer: several ResourceManagers, TLS, Kerberos."""

import subprocess
import xml.etree.ElementTree as Xml
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from heddle.yarn.testbed.local.cluster import LocalCluster
from heddle.yarn.testbed.local.configuration import write_configuration
from heddle.yarn.testbed.local.folders import cluster_folder
from heddle.yarn.testbed.local.java import JVM_FLAGS, find_java, find_tool
from heddle.yarn.testbed.local.layout import HOST, Layout
from heddle.yarn.testbed.local.processes import start, stop

SECRET = "of this test only"
_RM_PORTS = ("address", "scheduler.address", "resource-tracker.address", "admin.address", "webapp.address")
_NONE: Mapping[str, str] = {}
_RM = "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager"


@contextmanager
def configured(name: str, layout: Layout, settings: Mapping[str, Mapping[str, str]]) -> Iterator[LocalCluster]:
    """A cluster that is configured and not started. `settings`: file -> what is set in it, in every daemon's folder."""
    folder = cluster_folder(name)
    for needed in ("logs", "tmp", "staging"):
        (folder / needed).mkdir(parents=True)
    write_configuration(folder, layout)
    for conf in folder.glob("conf*"):
        for file, of_file in settings.items():
            set_in(conf / file, of_file)
    try:
        yield LocalCluster(name, folder, layout)
    finally:
        stop(folder)


def set_in(file: Path, settings: Mapping[str, str]) -> None:
    """Adds settings to a configuration file, in place of those of the same name."""
    old = Xml.parse(file).getroot() if file.exists() else Xml.Element("configuration")
    new = Xml.Element("configuration")
    new.extend(entry for entry in old if entry.findtext("name") not in settings)
    for name, value in settings.items():
        entry = Xml.SubElement(new, "property")
        Xml.SubElement(entry, "name").text = name
        Xml.SubElement(entry, "value").text = value
    Xml.ElementTree(new).write(file)


def start_rm(
    cluster: LocalCluster, role: str, conf: Path, *flags: str, jars: str = "", variables: Mapping[str, str] = _NONE
) -> None:
    """A ResourceManager with a configuration of its own. `jars`: what else it has on its class path, with a colon."""
    java = find_java()
    command = [str(java), *JVM_FLAGS, *flags, "-Xmx512m", "-cp", f"{conf}:{jars}{_jars(cluster)}", _RM]
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(cluster.folder), **variables}
    start(command, role, cluster.folder, environment, cluster.log(role))


def two_rms(layout: Layout) -> tuple[dict[str, str], dict[str, str]]:
    """Settings of two ResourceManagers that people switch between, and where each of them is."""
    ports = {rm: [layout.port + 30 + 10 * which + port for port in range(5)] for which, rm in enumerate(("rm1", "rm2"))}
    settings = {
        "yarn.resourcemanager.ha.enabled": "true",
        "yarn.resourcemanager.ha.rm-ids": "rm1,rm2",
        "yarn.resourcemanager.ha.automatic-failover.enabled": "false",
        "yarn.resourcemanager.cluster-id": "two",
        "yarn.client.failover-sleep-base-ms": "100",  # or a NodeManager looks for the active one twice a minute
        "yarn.client.failover-sleep-max-ms": "500",
        "yarn.client.failover-max-attempts": "1000",
        **{f"yarn.resourcemanager.hostname.{rm}": HOST for rm in ports},
        **{
            f"yarn.resourcemanager.{what}.{rm}": f"{HOST}:{port}"
            for rm, mine in ports.items()
            for what, port in zip(_RM_PORTS, mine, strict=True)
        },
    }
    return settings, {rm: f"http://{HOST}:{mine[-1]}" for rm, mine in ports.items()}


def activate(cluster: LocalCluster, rm: str) -> bool:
    """Whether it has become the active one."""
    try:
        # By force: the other one does not answer to say that it is not active.
        rm_admin(cluster, "-transitionToActive", "--forceactive", rm)
    except subprocess.CalledProcessError:  # not up yet
        return False
    return True


def rm_admin(cluster: LocalCluster, *words: str) -> None:
    program = "org.apache.hadoop.yarn.client.cli.RMAdminCLI"
    command = [str(find_java()), *JVM_FLAGS, "-cp", cluster.class_path(), program, *words]
    subprocess.run(command, check=True, capture_output=True, timeout=120)


def _jars(cluster: LocalCluster) -> str:
    return cluster.class_path().partition(":")[2]


def self_signed(folder: Path) -> tuple[Path, Path]:
    """A key store for 127.0.0.1, and its certificate as a file that clients can trust."""
    store, certificate = folder / "keys.p12", folder / "certificate.pem"
    keytool = str(find_tool("java").resolve().with_name("keytool"))
    of_store = ["-keystore", str(store), "-storepass", SECRET, "-alias", "rm"]
    name = ["-dname", "CN=localhost", "-ext", "SAN=ip:127.0.0.1,dns:localhost", "-ext", "BC=ca:true"]
    for words in (
        ["-genkeypair", "-keyalg", "RSA", "-storetype", "PKCS12", "-validity", "2", *name, *of_store],
        ["-exportcert", "-rfc", "-file", str(certificate), *of_store],
    ):
        subprocess.run([keytool, *words], check=True, capture_output=True, timeout=120)
    return store, certificate
