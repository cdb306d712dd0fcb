package stoa.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Corrupt;

class MembershipTest {
  @TempDir private Path directory;

  private static Membership noted(StoreProperties storeProperties) {
    var hosts = new TreeMap<>(Map.of(0, Membership.Start.BEGUN));
    return new Membership("s1", "127.0.0.1", 4711, 4712, storeProperties, hosts);
  }

  @Test
  void isReadAsItWasWritten() {
    assertNull(Membership.read(directory));
    var noted = noted(new StoreProperties(-2, 4, 3));
    noted.write(directory.resolve("data"));
    assertEquals(noted, Membership.read(directory.resolve("data")));
    noted = noted.releasing(0).hosting(2, Membership.Start.ADDED);
    noted.write(directory.resolve("data"));
    assertEquals(noted, Membership.read(directory.resolve("data")));
    noted.left().write(directory.resolve("data"));
    assertEquals(noted.left(), Membership.read(directory.resolve("data")));
    noted.without().write(directory.resolve("data"));
    assertEquals(noted.without(), Membership.read(directory.resolve("data")));
  }

  @Test
  void saysWhichFileIsDamaged() throws IOException {
    noted(new StoreProperties(-2, 4, 3)).write(directory);
    Path file = directory.resolve("member.properties");
    Files.writeString(file, Files.readString(file).replace("4711", "many"));
    var damaged = assertThrows(Corrupt.class, () -> Membership.read(directory));
    assertTrue(String.valueOf(damaged.getMessage()).contains(file.toString()), damaged::getMessage);
  }

  @Test
  void anyBitThatIsNotAsItWasWrittenIsFoundOrDoesNotMatter() throws IOException {
    var noted = noted(new StoreProperties(-2, 4, 3));
    noted.write(directory);
    Path file = directory.resolve("member.properties");
    byte[] written = Files.readAllBytes(file);
    int found = 0;
    for (int bit = 0; bit < written.length * Byte.SIZE; bit++) {
      byte[] damaged = written.clone();
      damaged[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
      Files.write(file, damaged);
      try {
        assertEquals(noted, Membership.read(directory), "bit " + bit);
      } catch (Corrupt refused) {
        found++;
      }
    }
    assertTrue(found > written.length, "only " + found + " were found");
  }

  @Test
  void refusesAStoreWhoseOrderedObjectsAreAllInItsFirstGroup() throws IOException {
    noted(new StoreProperties(-2, 4, 3)).write(directory);
    Path file = directory.resolve("member.properties");
    String written = Files.readString(file).replaceAll("checksum=.*\\R", "");
    Files.writeString(file, written + "spread=false\n");
    var earlier =
        assertThrows(UnsupportedOperationException.class, () -> Membership.read(directory));
    assertTrue(String.valueOf(earlier.getMessage()).contains("--spread"), earlier::getMessage);
    Files.writeString(file, written + "spread=true\n");
    assertEquals(noted(new StoreProperties(-2, 4, 3)), Membership.read(directory));
  }

  @Test
  void refusesADirectoryWithSomethingElse() throws IOException {
    Membership.requireEmpty(directory.resolve("none"));
    Membership.requireEmpty(directory);
    Files.createFile(directory.resolve("something"));
    assertThrows(IllegalArgumentException.class, () -> Membership.requireEmpty(directory));
  }
}
