"""What made a result: fingerprints of code, digests of files, the record that every output carries."""

from prasanga.provenance.code import fingerprint
from prasanga.provenance.files import digest_of, digests_of_files, sha256_of_file
from prasanga.provenance.record import describe

__all__ = ["describe", "digest_of", "digests_of_files", "fingerprint", "sha256_of_file"]
