package stoa.node.access;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.util.HexFormat;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.base.Secret;

/// Decides who is admitted to a server, and what each client may do: for all of its doors.
/// Thread-safe.
///
/// A server's door for HTTP makes its calls as a client of the servers. It passes on the identity
/// of its own client by a *voucher*: a token of the name and a proof that the door knows the secret
/// of the servers. A server alone has a secret of its own for that.
public final class Access {
  private static final String PURPOSE = "stoa voucher 1";
  private static final String BEARER = "Bearer ";
  private static final String VOUCHER = "voucher:";

  private final IdentitySource source;
  private final Supplier<@Nullable Secret> shared;
  private final Secret own;
  private final RefusalThrottle refusals = new RefusalThrottle();
  private volatile Identities identities;

  /// Creates it.
  ///
  /// @param shared the secret of the servers that keep a store together; null while there is none
  /// @throws IOException when the file of the identities cannot be read
  /// @throws IllegalArgumentException when it is malformed
  public Access(IdentitySource source, Supplier<@Nullable Secret> shared) throws IOException {
    this.source = source;
    this.shared = shared;
    byte[] key = new byte[Secret.BYTES];
    new SecureRandom().nextBytes(key);
    own = Secret.of(key);
    identities = source.read();
  }

  /// Returns the decisions of a server alone.
  ///
  /// @throws IOException when the file of the identities cannot be read
  public static Access of(IdentitySource source) throws IOException {
    return new Access(source, () -> null);
  }

  /// Returns where the identities are from.
  public IdentitySource source() {
    return source;
  }

  /// Reads the identities again. If that fails, the present ones stay in force.
  ///
  /// @throws IOException when the file cannot be read
  /// @throws IllegalArgumentException when it is malformed
  public void reload() throws IOException {
    identities = source.read();
  }

  /// Returns the present identities.
  public Identities identities() {
    return identities;
  }

  /// Returns the words for a client without a known proof.
  public String remedy() {
    return "the token or certificate is wrong, has ended, or is missing; " + identities.remedy();
  }

  /// Returns the refusals of all doors.
  public RefusalThrottle refusals() {
    return refusals;
  }

  /// Returns the client with a proof; null when it is not known, or is over.
  ///
  /// @param authorization the header of its request; null for none
  /// @param certificate that the server's authorities have signed; null for none
  public @Nullable Caller caller(
      @Nullable String authorization, @Nullable X509Certificate certificate) {
    var caller = new Caller(this, proof(authorization, certificate));
    return caller.isKnown() ? caller : null;
  }

  private Proof proof(@Nullable String authorization, @Nullable X509Certificate certificate) {
    if (authorization != null && authorization.startsWith(BEARER)) {
      String token = authorization.substring(BEARER.length());
      String name = vouched(token);
      return name == null ? Proof.token(token) : new Proof.Vouched(name);
    }
    return certificate == null ? new Proof.None() : Proof.certificate(certificate);
  }

  // ---- vouchers

  private static byte[] bytes(String name) {
    return name.getBytes(StandardCharsets.UTF_8);
  }

  private @Nullable String vouched(String token) {
    int end = token.lastIndexOf(':');
    if (!token.startsWith(VOUCHER) || end < VOUCHER.length()) return null;
    String name = token.substring(VOUCHER.length(), end);
    try {
      byte[] proof = HexFormat.of().parseHex(token.substring(end + 1));
      return secret().accepts(proof, PURPOSE, bytes(name)) ? name : null;
    } catch (IllegalArgumentException malformed) {
      return null;
    }
  }

  private Secret secret() {
    Secret known = shared.get();
    return known == null ? own : known;
  }

  /// Returns the token by which the server's own client stands for another one; null when clients
  /// need none.
  ///
  /// @param caller the other one; null for the server itself, which may read
  public @Nullable String voucher(@Nullable Caller caller) {
    if (identities.isOpen()) return null;
    String name = caller == null ? Identities.OWN : caller.name();
    String proof = HexFormat.of().formatHex(secret().proof(PURPOSE, bytes(name)));
    return VOUCHER + name + ":" + proof;
  }
}
