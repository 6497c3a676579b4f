"""What pyspark and py4j would print on the user's console."""

import logging
import socket
import struct
from threading import Thread

import pytest
from py4j.clientserver import ClientServer, JavaParameters, PythonParameters
from py4j.protocol import Py4JError

from lakebed.engines.spark.logs import silence_pyspark


def test_a_jvm_that_dies_in_mid_call_leaves_no_traceback_on_the_console(
    caplog: pytest.LogCaptureFixture,
) -> None:
    silence_pyspark()
    with socket.create_server(("127.0.0.1", 0)) as dying:
        Thread(target=_reset_the_first, args=(dying,), daemon=True).start()
        # As pyspark does it: without a server of its own, whose thread would keep the tests from
        # ending.
        java, python = (
            JavaParameters(port=dying.getsockname()[1]),
            PythonParameters(port=0, eager_load=False),
        )
        client = ClientServer(java_parameters=java, python_parameters=python)
        with pytest.raises(Py4JError):
            client.jvm.java.lang.System.gc()
    logging.getLogger().error("Exception while sending command.")
    assert [record.funcName for record in caplog.records] == [
        "test_a_jvm_that_dies_in_mid_call_leaves_no_traceback_on_the_console"
    ]


def _reset_the_first(server: socket.socket) -> None:
    connection, _ = server.accept()
    connection.recv(1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()
