package stoa.base;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/// A key that several processes share, and the proofs that a process knows it. Immutable.
///
/// A proof does not disclose the key. Each proof names its purpose, so that a proof for one purpose
/// is void for any other.
public final class Secret {
  /// The length of a key, and of a proof.
  public static final int BYTES = 32;

  private static final String ALGORITHM = "HmacSHA256";

  private final byte[] key;

  private Secret(byte[] key) {
    this.key = key;
  }

  /// Returns the secret with a key.
  ///
  /// @throws IllegalArgumentException when the key has another length than [#BYTES]
  public static Secret of(byte[] key) {
    if (key.length != BYTES) {
      throw new IllegalArgumentException("a secret of " + key.length + " bytes; it has " + BYTES);
    }
    return new Secret(key.clone());
  }

  /// Returns the secret that [#text] wrote; ignores surrounding spaces.
  ///
  /// @throws IllegalArgumentException when the text is something else
  public static Secret of(String text) {
    String digits = text.strip();
    if (digits.length() != 2 * BYTES) {
      throw new IllegalArgumentException(
          digits.length()
              + " characters; a secret is written in "
              + 2 * BYTES
              + " hexadecimal digits");
    }
    return new Secret(HexFormat.of().parseHex(digits));
  }

  /// Returns the key in hexadecimal digits.
  public String text() {
    return HexFormat.of().formatHex(key);
  }

  /// Proves that this process knows the key.
  ///
  /// @param purpose the purpose of the proof
  /// @param parts the data that the proof covers
  public byte[] proof(String purpose, byte[]... parts) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(key, ALGORITHM));
      add(mac, purpose.getBytes(StandardCharsets.UTF_8));
      for (byte[] part : parts) add(mac, part);
      return mac.doFinal();
    } catch (GeneralSecurityException missing) {
      throw new IllegalStateException("this Java has no " + ALGORITHM, missing);
    }
  }

  /// Each part comes after its length, so that no two lists of parts are the same bytes.
  private static void add(Mac mac, byte[] part) {
    mac.update(ByteBuffer.allocate(Integer.BYTES).putInt(part.length).flip());
    mac.update(part);
  }

  /// Returns whether a proof is the one that this secret makes; takes as long for any proof.
  public boolean accepts(byte[] proof, String purpose, byte[]... parts) {
    return MessageDigest.isEqual(proof, proof(purpose, parts));
  }

  /// Returns whether another secret has the same key; takes as long for any key.
  public boolean isSame(Secret other) {
    return MessageDigest.isEqual(key, other.key);
  }

  /// Omits the key.
  @Override
  public String toString() {
    return "a secret";
  }
}
