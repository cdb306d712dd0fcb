package stoa.raft;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.KeyStoreException;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedKeyManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The certificates of a member without a secret, in files: a handshake reads files again that have
/// changed. When a file cannot be used, its former content stays in force. Thread-safe.
public final class Certificates {
  private static final Logger LOG = LoggerFactory.getLogger(Certificates.class);
  private static final long BETWEEN_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final char[] NONE = {};

  private final NodeConfig.Tls tls;

  // Guarded by this.
  private Read read;
  private @Nullable Read before;
  private long lookedNanos = System.nanoTime();
  private String failure = "";

  /// The contents of the files, and what they have.
  ///
  /// @param alias the name of the certificate among the keys; no other reading has it
  private record Read(
      List<byte[]> contents,
      String alias,
      X509ExtendedKeyManager keys,
      X509ExtendedTrustManager trust) {
    boolean isOf(List<byte[]> others) {
      for (int i = 0; i < contents.size(); i++) {
        if (!Arrays.equals(contents.get(i), others.get(i))) return false;
      }
      return true;
    }
  }

  /// Reads the files.
  ///
  /// @throws IOException when they cannot be used
  public Certificates(NodeConfig.Tls tls) throws IOException {
    this.tls = tls;
    try {
      read = read(contents(), 0);
    } catch (GeneralSecurityException | IllegalArgumentException e) {
      throw new IOException("the certificates of " + tls + " cannot be used: " + e, e);
    }
  }

  /// Returns the certificate and key of the member, always those of the present files.
  public X509ExtendedKeyManager keys() {
    return new Keys();
  }

  /// Returns the requirements for other members, always those of the present files.
  public X509ExtendedTrustManager trusted() {
    return new Signed(this::trust, tls.members());
  }

  private X509ExtendedTrustManager trust() {
    return present().trust;
  }

  private List<byte[]> contents() throws IOException {
    return List.of(
        Files.readAllBytes(tls.certificate()),
        Files.readAllBytes(tls.key()),
        Files.readAllBytes(tls.authorities()));
  }

  private synchronized Read present() {
    long now = System.nanoTime();
    if (now - lookedNanos < BETWEEN_NANOS) return read;
    lookedNanos = now;
    try {
      List<byte[]> contents = contents();
      if (read.isOf(contents)) return read;
      Read next = read(contents, Integer.parseInt(read.alias) + 1);
      before = read;
      read = next;
      failure = "";
      LOG.info("the certificates between servers were read again from {}", tls.certificate());
    } catch (IOException | GeneralSecurityException | IllegalArgumentException broken) {
      String why = String.valueOf(broken.getMessage());
      if (!why.equals(failure)) {
        LOG.warn(
            "the certificates between servers were not read again from {}, {} and {}, and those of"
                + " before stay: {}; mend the files",
            tls.certificate(),
            tls.key(),
            tls.authorities(),
            why);
      }
      failure = why;
    }
    return read;
  }

  /// Returns the reading that a handshake has begun with.
  private synchronized Read of(String alias) {
    Read last = before;
    return last != null && last.alias.equals(alias) ? last : read;
  }

  private Read read(List<byte[]> contents, int number)
      throws IOException, GeneralSecurityException {
    String alias = Integer.toString(number);
    return new Read(contents, alias, keys(alias), authorities());
  }

  private X509ExtendedKeyManager keys(String alias) throws GeneralSecurityException, IOException {
    Certificate[] chain = certificates(tls.certificate());
    PrivateKey key = key(tls.key());
    requirePair(chain, key);
    var keys = KeyStore.getInstance("PKCS12");
    keys.load(null, null);
    keys.setKeyEntry(alias, key, NONE, chain);
    var managers = KeyManagerFactory.getInstance("SunX509");
    managers.init(keys, NONE);
    return (X509ExtendedKeyManager) managers.getKeyManagers()[0];
  }

  /// Refuses a key of another certificate: the two files may be replaced one after the other.
  private void requirePair(Certificate[] chain, PrivateKey key) throws GeneralSecurityException {
    if (chain.length == 0)
      throw new CertificateException(tls.certificate() + " has no certificate");
    String algorithm =
        switch (key.getAlgorithm()) {
          case "RSA" -> "SHA256withRSA";
          case "EC" -> "SHA256withECDSA";
          default -> "EdDSA";
        };
    byte[] word = {1};
    var signing = Signature.getInstance(algorithm);
    signing.initSign(key);
    signing.update(word);
    byte[] signed = signing.sign();
    signing.initVerify(chain[0].getPublicKey());
    signing.update(word);
    if (!signing.verify(signed)) {
      throw new CertificateException(
          tls.key() + " is not the key of the certificate in " + tls.certificate());
    }
  }

  private X509ExtendedTrustManager authorities() throws GeneralSecurityException, IOException {
    var authorities = KeyStore.getInstance("PKCS12");
    authorities.load(null, null);
    int number = 0;
    for (Certificate authority : certificates(tls.authorities())) {
      authorities.setCertificateEntry("authority" + number++, authority);
    }
    var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(authorities);
    for (TrustManager one : trust.getTrustManagers()) {
      if (one instanceof X509ExtendedTrustManager known) return known;
    }
    throw new KeyStoreException("this Java has no trust manager for certificates");
  }

  private static Certificate[] certificates(Path file)
      throws GeneralSecurityException, IOException {
    try (InputStream in = Files.newInputStream(file)) {
      return CertificateFactory.getInstance("X.509")
          .generateCertificates(in)
          .toArray(new Certificate[0]);
    }
  }

  private static PrivateKey key(Path file) throws GeneralSecurityException, IOException {
    String text = Files.readString(file).replaceAll("-----[A-Z ]+-----", "").replaceAll("\\s", "");
    var encoded = new PKCS8EncodedKeySpec(Base64.getDecoder().decode(text));
    for (String algorithm : new String[] {"RSA", "EC", "EdDSA"}) {
      try {
        return KeyFactory.getInstance(algorithm).generatePrivate(encoded);
      } catch (InvalidKeySpecException another) {
        // The key is of another kind.
      }
    }
    throw new InvalidKeySpecException(file + " has no private key in PKCS 8");
  }

  /// Chooses the certificate of the present files.
  private final class Keys extends X509ExtendedKeyManager {
    @Override
    public String @Nullable [] getClientAliases(String type, Principal @Nullable [] issuers) {
      return present().keys.getClientAliases(type, issuers);
    }

    @Override
    public @Nullable String chooseClientAlias(
        String[] types, Principal @Nullable [] issuers, @Nullable Socket socket) {
      return present().keys.chooseClientAlias(types, issuers, socket);
    }

    @Override
    public @Nullable String chooseEngineClientAlias(
        String[] types, Principal @Nullable [] issuers, @Nullable SSLEngine engine) {
      return present().keys.chooseEngineClientAlias(types, issuers, engine);
    }

    @Override
    public String @Nullable [] getServerAliases(String type, Principal @Nullable [] issuers) {
      return present().keys.getServerAliases(type, issuers);
    }

    @Override
    public @Nullable String chooseServerAlias(
        String type, Principal @Nullable [] issuers, @Nullable Socket socket) {
      return present().keys.chooseServerAlias(type, issuers, socket);
    }

    @Override
    public @Nullable String chooseEngineServerAlias(
        String type, Principal @Nullable [] issuers, @Nullable SSLEngine engine) {
      return present().keys.chooseEngineServerAlias(type, issuers, engine);
    }

    @Override
    public X509Certificate @Nullable [] getCertificateChain(String alias) {
      return of(alias).keys.getCertificateChain(alias);
    }

    @Override
    public @Nullable PrivateKey getPrivateKey(String alias) {
      return of(alias).keys.getPrivateKey(alias);
    }
  }
}
