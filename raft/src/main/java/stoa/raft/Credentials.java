package stoa.raft;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.util.Arrays;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;
import stoa.base.Secret;

/// The certificates by which members authenticate each other in TLS: a [Secret] that all members
/// know vouches for them. Immutable.
public final class Credentials {
  /*
   * Each process makes a key pair and a certificate of its own, which lives as long as the process.
   * The certificate has an extension with the name of the member, and a proof by the secret for
   * that name and the public key. TLS shows that the other end has the private key; the proof shows
   * that the maker of the key knows the secret. So a copied certificate is useless, the secret
   * never travels, and both ends prove themselves before the first byte. No authority signs
   * anything, and the host of a member is not checked: the proof replaces both.
   */
  private static final String CURVE = "secp256r1";
  private static final String PURPOSE = "stoa member 1";

  // An identifier of this extension alone, made of a UUID as X.667 says.
  private static final String EXTENSION = "2.25.155013039829150156255340870168181890049";

  private static final String SIGNATURE = "1.2.840.10045.4.3.2"; // ECDSA with SHA-256
  private static final String COMMON_NAME = "2.5.4.3";
  private static final String FROM = "20000101000000Z";
  private static final String TO = "99991231235959Z";
  private static final char[] NONE = {};

  private final Secret secret;
  private final KeyManager[] keys;

  /// Creates them.
  ///
  /// @param name of this member
  public Credentials(Secret secret, String name) {
    this.secret = secret;
    try {
      var generator = KeyPairGenerator.getInstance("EC");
      generator.initialize(new ECGenParameterSpec(CURVE));
      KeyPair pair = generator.generateKeyPair();
      var store = KeyStore.getInstance("PKCS12");
      store.load(null, null);
      store.setKeyEntry(
          "member", pair.getPrivate(), NONE, new Certificate[] {certificate(secret, name, pair)});
      var managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      managers.init(store, NONE);
      keys = managers.getKeyManagers();
    } catch (GeneralSecurityException missing) {
      throw new IllegalStateException("this Java cannot make a certificate", missing);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }

  /// Returns the certificate and key of this member.
  public KeyManager keys() {
    return keys[0];
  }

  /// Returns the requirements for other members.
  public X509ExtendedTrustManager trusted() {
    return new Vouched(secret);
  }

  SSLContext context() throws GeneralSecurityException {
    var context = SSLContext.getInstance("TLS");
    context.init(keys, new X509ExtendedTrustManager[] {trusted()}, null);
    return context;
  }

  /// Returns the name of the member that has shown a certificate, which [#trusted] has accepted.
  ///
  /// @param shown null when the other end has shown none
  /// @throws IOException when it is no member's
  static String name(@Nullable X509Certificate shown) throws IOException {
    byte[] shows = shown == null ? null : extension(shown);
    if (shows == null) throw new IOException("the certificate of the other end is no member's");
    return new String(shows, Secret.BYTES, shows.length - Secret.BYTES, StandardCharsets.UTF_8);
  }

  /// Returns the proof and the name in a certificate; null when it has none.
  private static byte @Nullable [] extension(X509Certificate certificate) {
    byte[] encoded = certificate.getExtensionValue(EXTENSION);
    if (encoded == null) return null;
    byte[] value = Der.content(Der.content(encoded));
    return value.length > Secret.BYTES ? value : null;
  }

  private static byte[] joined(byte[] proof, byte[] name) {
    byte[] both = Arrays.copyOf(proof, proof.length + name.length);
    System.arraycopy(name, 0, both, proof.length, name.length);
    return both;
  }

  private static X509Certificate certificate(Secret secret, String name, KeyPair pair)
      throws GeneralSecurityException {
    byte[] publicKey = pair.getPublic().getEncoded();
    byte[] text = name.getBytes(StandardCharsets.UTF_8);
    byte[] algorithm = Der.sequence(Der.identifier(SIGNATURE));
    byte[] called =
        Der.sequence(Der.set(Der.sequence(Der.identifier(COMMON_NAME), Der.text("stoa"))));
    byte[] extension =
        Der.sequence(
            Der.identifier(EXTENSION),
            Der.octets(Der.octets(joined(secret.proof(PURPOSE, publicKey, text), text))));
    byte[] described =
        Der.sequence(
            Der.tagged(0, Der.number(2)),
            Der.number(1),
            algorithm,
            called,
            Der.sequence(Der.time(FROM), Der.time(TO)),
            called,
            publicKey,
            Der.tagged(3, Der.sequence(extension)));
    Signature signature = Signature.getInstance("SHA256withECDSA");
    signature.initSign(pair.getPrivate());
    signature.update(described);
    byte[] encoded = Der.sequence(described, algorithm, Der.bits(signature.sign()));
    return (X509Certificate)
        CertificateFactory.getInstance("X.509")
            .generateCertificate(new ByteArrayInputStream(encoded));
  }

  /// Trusts certificates for which the secret vouches, at both ends alike.
  private static final class Vouched extends X509ExtendedTrustManager {
    private final Secret secret;

    Vouched(Secret secret) {
      this.secret = secret;
    }

    private void check(X509Certificate[] chain) throws CertificateException {
      byte[] shown = chain.length == 0 ? null : extension(chain[0]);
      if (shown != null) {
        byte[] proof = Arrays.copyOf(shown, Secret.BYTES);
        byte[] name = Arrays.copyOfRange(shown, Secret.BYTES, shown.length);
        if (secret.accepts(proof, PURPOSE, chain[0].getPublicKey().getEncoded(), name)) return;
      }
      throw new CertificateException("the other end does not know the secret of the servers");
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type)
        throws CertificateException {
      check(chain);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type)
        throws CertificateException {
      check(chain);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket)
        throws CertificateException {
      check(chain);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket)
        throws CertificateException {
      check(chain);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine)
        throws CertificateException {
      check(chain);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine)
        throws CertificateException {
      check(chain);
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }
}
