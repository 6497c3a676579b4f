"""Signatures as AWS documents them: Authenticating Requests (AWS Signature Version 4), examples."""

from datetime import UTC, datetime

import pytest

from lakebed.engines.files.s3_signing import AwsKeys, S3Request, encoded_path, signed_headers

KEYS = AwsKeys("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
BUCKET = "https://examplebucket.s3.amazonaws.com"
NOW = datetime(2013, 5, 24, tzinfo=UTC)


@pytest.mark.parametrize(
    ("request_", "signature"),
    [
        (
            S3Request("GET", f"{BUCKET}/test.txt", headers={"Range": "bytes=0-9"}),
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
        ),
        (
            S3Request(
                "PUT",
                f"{BUCKET}/{encoded_path('test$file.text')}",
                headers={
                    "Date": "Fri, 24 May 2013 00:00:00 GMT",
                    "x-amz-storage-class": "REDUCED_REDUNDANCY",
                },
                body=b"Welcome to Amazon S3.",
            ),
            "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
        ),
        (
            S3Request("GET", f"{BUCKET}/", {"lifecycle": ""}),
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
        ),
        (
            S3Request("GET", f"{BUCKET}/", {"prefix": "J", "max-keys": "2"}),
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
        ),
    ],
    ids=["a range", "an upload", "a query without a value", "a query"],
)
def test_a_request_has_the_signature_that_aws_expects(request_: S3Request, signature: str) -> None:
    headers = signed_headers(request_, KEYS, region="us-east-1", now=NOW)
    assert headers["authorization"].endswith(f"Signature={signature}")


def test_a_temporary_key_s_token_is_sent_and_signed_and_no_secret_is_shown() -> None:
    keys = AwsKeys("key", "canary-secret", "canary-token")
    headers = signed_headers(S3Request("GET", BUCKET), keys, region="eu-west-1", now=NOW)
    assert headers["x-amz-security-token"] == "canary-token"
    assert "x-amz-security-token" in headers["authorization"]
    assert "canary" not in repr(keys)
