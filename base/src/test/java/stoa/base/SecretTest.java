package stoa.base;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class SecretTest {
  private static Secret secret(int number) {
    byte[] key = new byte[Secret.BYTES];
    key[0] = (byte) number;
    return Secret.of(key);
  }

  @Test
  void isReadAsItWasWritten() {
    Secret one = secret(1);
    assertTrue(one.isSame(Secret.of(" " + one.text() + "\n")));
    assertFalse(one.isSame(secret(2)));
    assertThrows(IllegalArgumentException.class, () -> Secret.of(""));
    assertThrows(IllegalArgumentException.class, () -> Secret.of("x".repeat(2 * Secret.BYTES)));
    assertThrows(IllegalArgumentException.class, () -> Secret.of(new byte[16]));
    assertEquals("a secret", one.toString());
  }

  @Test
  void aProofIsForItsPurposeAndItsPartsAlone() {
    Secret one = secret(1);
    byte[] proof = one.proof("join", new byte[] {1, 2}, new byte[] {3});
    assertTrue(one.accepts(proof, "join", new byte[] {1, 2}, new byte[] {3}));
    assertFalse(one.accepts(proof, "drain", new byte[] {1, 2}, new byte[] {3}));
    assertFalse(one.accepts(proof, "join", new byte[] {1}, new byte[] {2, 3}));
    assertFalse(one.accepts(new byte[0], "join", new byte[] {1, 2}, new byte[] {3}));
    assertFalse(secret(2).accepts(proof, "join", new byte[] {1, 2}, new byte[] {3}));
  }
}
