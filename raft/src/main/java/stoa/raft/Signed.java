package stoa.raft;

import java.net.Socket;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.function.Predicate;
import java.util.function.Supplier;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedTrustManager;

/// Trusts the certificates of members that authorities have signed, at both ends alike.
/// Thread-safe.
final class Signed extends X509ExtendedTrustManager {
  private final Supplier<X509ExtendedTrustManager> authorities;
  private final Predicate<X509Certificate> members;

  /// Creates it.
  ///
  /// @param authorities returns what trusts what they have signed
  /// @param members returns whether the owner of such a certificate is a member
  Signed(Supplier<X509ExtendedTrustManager> authorities, Predicate<X509Certificate> members) {
    this.authorities = authorities;
    this.members = members;
  }

  private void requireMember(X509Certificate[] chain) throws CertificateException {
    if (members.test(chain[0])) return;
    throw new CertificateException(
        "the certificate of "
            + chain[0].getSubjectX500Principal().getName()
            + " is no server's; give its identity the role member in the file of --identities");
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type) throws CertificateException {
    authorities.get().checkClientTrusted(chain, type);
    requireMember(chain);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type) throws CertificateException {
    authorities.get().checkServerTrusted(chain, type);
    requireMember(chain);
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket)
      throws CertificateException {
    authorities.get().checkClientTrusted(chain, type, socket);
    requireMember(chain);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket)
      throws CertificateException {
    authorities.get().checkServerTrusted(chain, type, socket);
    requireMember(chain);
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine)
      throws CertificateException {
    authorities.get().checkClientTrusted(chain, type, engine);
    requireMember(chain);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine)
      throws CertificateException {
    authorities.get().checkServerTrusted(chain, type, engine);
    requireMember(chain);
  }

  @Override
  public X509Certificate[] getAcceptedIssuers() {
    return authorities.get().getAcceptedIssuers();
  }
}
