"""Certificate chains, valid or flawed in one way each. Run with two arguments, a directory and the host that the leaves
name: writes NAME.pem (in the order that a server sends, leaf first) and NAME.key for every chain, and ca.pem, the
trusted roots."""

import datetime
import hashlib
import ipaddress
import pathlib
import sys

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

NOW = datetime.datetime.now(datetime.timezone.utc)
DAY = datetime.timedelta(days=1)
IN_FORCE = (NOW - 2 * DAY, NOW + 30 * DAY)
OVER = (NOW - 30 * DAY, NOW - DAY)
TO_COME = (NOW + DAY, NOW + 30 * DAY)

# A private extension that no verifier knows, marked critical.
UNKNOWN_EXTENSION = x509.UnrecognizedExtension(x509.ObjectIdentifier("1.3.6.1.4.1.55555.1"), b"\x05\x00")


def p256():
    return ec.generate_private_key(ec.SECP256R1())


def key_usage(**allowed):
    names = [
        "digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement",
        "key_cert_sign", "crl_sign", "encipher_only", "decipher_only",
    ]  # fmt: skip
    return x509.KeyUsage(**{name: allowed.get(name, False) for name in names})


AUTHORITY_USAGE = key_usage(key_cert_sign=True, crl_sign=True)
LEAF_USAGE = key_usage(digital_signature=True)


class Holder:
    """A certificate, its key, and its issuer."""

    def __init__(self, name, issuer=None, key=None, valid=IN_FORCE, extensions=()):
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self.issuer = issuer
        self.key = key or p256()
        signer = issuer or self
        builder = (
            x509.CertificateBuilder()
            .subject_name(self.name)
            .issuer_name(signer.name)
            .public_key(self.key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(valid[0])
            .not_valid_after(valid[1])
        )
        for extension, critical in extensions:
            builder = builder.add_extension(extension, critical)
        algorithm = None if isinstance(signer.key, ed25519.Ed25519PrivateKey) else hashes.SHA256()
        self.certificate = builder.sign(signer.key, algorithm)

    def chain(self):
        """From here up to below the root, which servers do not send."""
        above = self.issuer.chain() if self.issuer and self.issuer.issuer else []
        return [self.certificate.public_bytes(serialization.Encoding.DER), *above]


def authority(name, issuer=None, path_length=None, ca=True, usage=AUTHORITY_USAGE, more=(), **options):
    constraints = x509.BasicConstraints(ca=ca, path_length=path_length if ca else None)
    extensions = [(constraints, True), (usage, True), *more]
    return Holder(name, issuer, extensions=extensions, **options)


class Chains:
    def __init__(self, host):
        self.host = host
        self.root = authority("Photofinish test root")

    def leaf(self, issuer=None, names=None, usage=LEAF_USAGE, ca=False, more=(), **options):
        names = [x509.DNSName(self.host)] if names is None else names
        extensions = [(x509.BasicConstraints(ca=ca, path_length=None), True), (usage, True), *more]
        if names:
            extensions.append((x509.SubjectAlternativeName(names), False))
        return Holder(self.host, issuer or self.root, extensions=extensions, **options)

    def below(self, name, **options):
        """A leaf below an intermediate with the given options."""
        return self.leaf(authority(name, self.root, **options))

    def good(self):
        return {
            "p256": self.leaf(),
            "p384": self.leaf(key=ec.generate_private_key(ec.SECP384R1())),
            "ed25519": self.leaf(key=ed25519.Ed25519PrivateKey.generate()),
            "rsa-2048": self.leaf(key=rsa.generate_private_key(65537, 2048)),
            "intermediate": self.below("Intermediate"),
            "two-intermediates": self.leaf(
                authority("Lower", authority("Upper", self.root, path_length=1), path_length=0)
            ),
            "wildcard": self.leaf(names=[x509.DNSName("*." + self.host.split(".", 1)[1])]),
            "address": self.leaf(names=[x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]),
            "constrained-in-bounds": self.below("Bound to the host", more=[self.permitted(self.host)]),
        }

    def bad(self):
        stranger = authority("Unknown to everybody")
        missing = authority("Never sent", self.root)
        upper = authority("Upper with path length 0", self.root, path_length=0)
        return {
            "expired": self.leaf(valid=OVER),
            "not-yet-valid": self.leaf(valid=TO_COME),
            "wrong-name": self.leaf(names=[x509.DNSName("elsewhere.test")]),
            "wildcard-too-wide": self.leaf(names=[x509.DNSName("*." + self.host.rsplit(".", 1)[1])]),
            "common-name-only": self.leaf(names=[]),
            "unknown-root": self.leaf(stranger),
            "self-signed": self.self_signed(),
            "authority-as-leaf": self.leaf(
                ca=True, usage=key_usage(digital_signature=True, key_cert_sign=True)
            ),
            "expired-root": self.leaf(self.expired_root),
            "expired-intermediate": self.below("Expired", valid=OVER),
            "missing-intermediate": self.leaf(missing),
            "intermediate-no-ca": self.below("No authority", ca=False),
            "intermediate-may-not-sign": self.below("May not sign", usage=key_usage(digital_signature=True)),
            "intermediate-for-clients": self.below("For clients", more=[self.for_clients()]),
            "path-too-long": self.leaf(authority("Lower", upper)),
            "name-excluded": self.below("Host excluded", more=[self.excluded(self.host)]),
            "name-not-permitted": self.below("Bound elsewhere", more=[self.permitted("elsewhere.test")]),
            "for-clients": self.leaf(more=[self.for_clients()]),
            "key-may-not-sign": self.leaf(usage=key_usage(key_encipherment=True)),
            "critical-unknown": self.leaf(more=[(UNKNOWN_EXTENSION, True)]),
            "sha1": self.leaf(authority("RSA", self.root, key=rsa.generate_private_key(65537, 2048))),
            "rsa-1024": self.leaf(key=rsa.generate_private_key(65537, 1024)),
            "rsa-1024-intermediate": self.below("Weak", key=rsa.generate_private_key(65537, 1024)),
            "tampered": self.leaf(),
        }

    def self_signed(self):
        own = x509.SubjectAlternativeName([x509.DNSName(self.host)])
        no_authority = x509.BasicConstraints(ca=False, path_length=None)
        return Holder(self.host, extensions=[(no_authority, True), (own, False)])

    def for_clients(self):
        return x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), False

    def permitted(self, name):
        return x509.NameConstraints([x509.DNSName(name)], None), True

    def excluded(self, name):
        return x509.NameConstraints(None, [x509.DNSName(name)]), True

    @property
    def expired_root(self):
        if not hasattr(self, "_expired_root"):
            self._expired_root = authority("Expired root", valid=OVER)
        return self._expired_root


def tampered(leaf, *above):
    """The last byte of a certificate belongs to its signature."""
    return [leaf[:-1] + bytes([leaf[-1] ^ 1]), *above]


def signed_by_sha1(issuer, leaf, *above):
    """Libraries no longer sign with SHA-1: the algorithm is replaced in place, the signature computed by hand."""
    sha256_rsa, sha1_rsa = (bytes.fromhex("2a864886f70d0101" + last) for last in ("0b", "05"))
    to_be_signed = x509.load_der_x509_certificate(leaf).tbs_certificate_bytes.replace(sha256_rsa, sha1_rsa)
    numbers = issuer.key.private_numbers()
    size = issuer.key.key_size // 8
    # RFC 8017 section 9.2, notes: the DigestInfo of SHA-1.
    info = bytes.fromhex("3021300906052b0e03021a05000414") + hashlib.sha1(to_be_signed).digest()
    padded = b"\x00\x01" + b"\xff" * (size - len(info) - 3) + b"\x00" + info
    signature = pow(int.from_bytes(padded), numbers.d, numbers.public_numbers.n).to_bytes(size)
    return [leaf.replace(sha256_rsa, sha1_rsa)[:-size] + signature, *above]


def sent(name, holder):
    """The part of a chain that a server sends, as DER: all of it, except for the names that indicate otherwise."""
    chain = holder.chain()
    if name == "missing-intermediate":
        return chain[:1]
    if name == "tampered":
        return tampered(*chain)
    if name == "sha1":
        return signed_by_sha1(holder.issuer, *chain)
    return chain


def pem(der):
    return x509.load_der_x509_certificate(der).public_bytes(serialization.Encoding.PEM)


def main(directory, host):
    chains = Chains(host)
    for name, holder in {**chains.good(), **chains.bad()}.items():
        (directory / f"{name}.pem").write_bytes(b"".join(map(pem, sent(name, holder))))
        key = holder.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        (directory / f"{name}.key").write_bytes(key)
    roots = [chains.root, chains.expired_root]
    (directory / "ca.pem").write_bytes(b"".join(pem(root.chain()[0]) for root in roots))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), sys.argv[2])
