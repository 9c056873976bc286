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
from heddle.yarn.testbed.local.layout import Layout
from heddle.yarn.testbed.local.processes import start, stop

SECRET = "of this test only"
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


def start_rm(cluster: LocalCluster, role: str, conf: Path, *flags: str) -> None:
    """A ResourceManager with a configuration of its own."""
    java = find_java()
    command = [str(java), *JVM_FLAGS, *flags, "-Xmx512m", "-cp", f"{conf}:{_jars(cluster)}", _RM]
    start(command, role, cluster.folder, {"PATH": "/usr/bin:/bin", "HOME": str(cluster.folder)}, cluster.log(role))


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
