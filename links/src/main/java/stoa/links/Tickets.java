package stoa.links;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.TreeMap;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/// The tickets by which processes of a tree recognize each other. The process of the root gives
/// each a ticket for its address, made with a seal that it tells to the processes that accept
/// connections. Thread-safe.
///
/// Seals are random and follow each other; a ticket is valid while its seal is one of the last
/// [#KEPT]. So no clock matters.
final class Tickets {
  /// @param number the number of its seal
  /// @param code the code of the address under that seal
  record Ticket(long number, byte[] code) {}

  /// How many seals are valid.
  static final int KEPT = 3;

  private static final int KEY_BYTES = 32;
  private static final String ALGORITHM = "HmacSHA256";
  private static final SecureRandom RANDOM = new SecureRandom();

  private final TreeMap<Long, byte[]> seals = new TreeMap<>();

  /// Makes the next seal.
  synchronized Frame.Seal next() {
    byte[] key = new byte[KEY_BYTES];
    RANDOM.nextBytes(key);
    learn(new Frame.Seal(seals.isEmpty() ? 1 : seals.lastKey() + 1, key));
    return last();
  }

  /// Returns the newest seal, of which there must be one.
  synchronized Frame.Seal last() {
    var last = seals.lastEntry();
    return new Frame.Seal(last.getKey(), last.getValue());
  }

  synchronized void learn(Frame.Seal seal) {
    seals.put(seal.number(), seal.key());
    while (seals.size() > KEPT) seals.pollFirstEntry();
  }

  /// Forgets all seals: another root has others.
  synchronized void forget() {
    seals.clear();
  }

  /// Returns a ticket for an address, made with the newest seal.
  synchronized Ticket of(String address) {
    var last = seals.lastEntry();
    return new Ticket(last.getKey(), code(last.getValue(), address));
  }

  /// Returns whether a ticket is valid for an address.
  synchronized boolean isGood(Ticket ticket, String address) {
    byte @Nullable [] key = seals.get(ticket.number);
    return key != null && MessageDigest.isEqual(ticket.code, code(key, address));
  }

  private static byte[] code(byte[] key, String address) {
    try {
      var mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(key, ALGORITHM));
      return Arrays.copyOf(mac.doFinal(address.getBytes(StandardCharsets.UTF_8)), KEY_BYTES / 2);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java platform has " + ALGORITHM, e);
    }
  }
}
