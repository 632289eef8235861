"""What made a result: fingerprints of code, the record that every output carries, the ledger beside the results."""

from prasanga.base.documents import digest_of, digests_of_files, sha256_of_file
from prasanga.provenance.code import describe, fingerprint
