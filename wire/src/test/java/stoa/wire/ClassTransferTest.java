package stoa.wire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import stoa.LimitExceeded;
import stoa.wire.proto.ClassFile;

class ClassTransferTest {
  @Test
  void classFilesArriveInMessagesOfBoundedSize() {
    var random = new SplittableRandom(1);
    var files = new TreeMap<String, byte[]>();
    for (int i = 0; i < 100; i++) {
      var file = new byte[random.nextInt(100_000)];
      random.nextBytes(file);
      files.put("a.Class" + i, file);
    }
    var parts = ClassTransfer.parts(files);
    assertTrue(parts.size() > 3);
    var arrived = new ClassTransfer();
    for (var part : parts) {
      int bytes = part.stream().mapToInt(ClassFile::getSerializedSize).sum();
      assertTrue(bytes <= ClassTransfer.PART_BYTES_AIM, () -> "a part of " + bytes);
      part.forEach(arrived::add);
    }
    assertEquals(files.keySet(), arrived.files().keySet());
    files.forEach((name, file) -> assertArrayEquals(file, arrived.files().get(name)));
  }

  @Test
  void filesThatAreTooManyOrTooLargeAreRefused() {
    var arrived = new ClassTransfer();
    var large = new byte[ClassTransfer.BYTES_MAX / 2];
    arrived.add(ClassTransfer.deflated("a", large));
    ClassFile second = ClassTransfer.deflated("b", large);
    assertTrue(second.getSerializedSize() < ClassTransfer.PART_BYTES_AIM);
    assertThrows(LimitExceeded.class, () -> arrived.add(second));
    for (int i = 1; i < ClassTransfer.FILES_MAX; i++) {
      arrived.add(ClassTransfer.deflated("c" + i, new byte[1]));
    }
    ClassFile last = ClassTransfer.deflated("last", new byte[1]);
    assertThrows(LimitExceeded.class, () -> arrived.add(last));
  }

  @Test
  void damagedAndRepeatedFilesAreRefused() {
    var arrived = new ClassTransfer();
    ClassFile good = ClassTransfer.deflated("a", new byte[100]);
    arrived.add(good);
    assertThrows(IllegalArgumentException.class, () -> arrived.add(good));
    ByteString half = good.getDeflated().substring(0, good.getDeflated().size() / 2);
    for (ByteString bytes : new ByteString[] {half, ByteString.copyFromUtf8("no zlib")}) {
      ClassFile damaged = ClassFile.newBuilder().setName("b").setDeflated(bytes).build();
      assertThrows(IllegalArgumentException.class, () -> arrived.add(damaged));
    }
  }
}
