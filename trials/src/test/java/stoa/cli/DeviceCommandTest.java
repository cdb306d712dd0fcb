package stoa.cli;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Blob;
import stoa.Stoa;
import stoa.base.StreamId;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.FileDisk;
import stoa.storage.object.VersionedObject;

/// An operator's commands for the files of a storage device.
class DeviceCommandTest {
  @TempDir private Path directory;
  private Path data = Path.of("");
  private Path copy = Path.of("");

  @BeforeEach
  void fill() {
    data = directory.resolve("data");
    copy = directory.resolve("copy");
    try (Device device = Device.open(new FileDisk(data), DeviceConfig.standard())) {
      device.object(42).write(1, 0, ByteBuffer.wrap("first bytes".getBytes(UTF_8)));
      device.object(42).write(3, 100, ByteBuffer.wrap("third".getBytes(UTF_8)));
      device.object(StreamId.of("named")).write(1, 0, ByteBuffer.allocate(5000));
    }
  }

  private static String stoa(int exitCode, Object... arguments) {
    var text = new StringWriter();
    var out = new PrintWriter(text);
    var words = new String[arguments.length];
    for (int i = 0; i < words.length; i++) words[i] = arguments[i].toString();
    assertEquals(exitCode, Main.run(out, out, words), text::toString);
    return text.toString();
  }

  private static JsonObject json(Object... arguments) {
    return JsonParser.parseString(stoa(0, arguments)).getAsJsonObject();
  }

  @Test
  void theSizesAndVersionsOfObjectsAreShown() {
    String said = stoa(0, "device", "stat", "--data", data);
    assertTrue(said.contains("2 objects"), said);
    assertTrue(said.contains("2a: versions 1, 3; size 105; 2 extents"), said);
    said = stoa(0, "device", "stat", "--data", data, "--limit", 1);
    assertTrue(said.contains("1 more"), said);
    JsonObject one = json("device", "stat", "--data", data, "--object", 42, "--json");
    assertEquals(1, one.get("missingVersions").getAsLong());
    assertEquals(
        3, one.getAsJsonArray("history").get(1).getAsJsonObject().get("version").getAsLong());
    JsonObject all = json("device", "stat", "--data", data, "--json");
    assertEquals(2, all.getAsJsonArray("shown").size());
    said = stoa(0, "device", "stat", "--data", data, "--object", "name:named");
    assertTrue(said.contains("  0 to 4999: bytes of version 1"), said);
    assertTrue(stoa(0, "device", "stat", "--help").contains("--object"));
  }

  @Test
  void anObjectIsCopiedAndThenBroughtUpToDate() {
    Path file = directory.resolve("updates");
    String said = stoa(0, "device", "export", "--data", data, "--object", 42, "--to", file);
    assertTrue(said.contains("versions 1, 3"), said);
    stoa(2, "device", "export", "--data", data, "--object", 42, "--to", file);
    said = stoa(0, "device", "import", "--data", copy, "--object", 7, "--from", file);
    assertTrue(said.contains("1, 3"), said);
    try (Device device = Device.open(new FileDisk(data), DeviceConfig.standard())) {
      device.object(42).write(2, 5, ByteBuffer.wrap("second".getBytes(UTF_8)));
    }
    Path rest = directory.resolve("rest");
    said =
        stoa(0, "device", "export", "--data", data, "--object", 42, "--have", "1,3", "--to", rest);
    assertTrue(said.contains("versions 2 of"), said);
    stoa(0, "device", "import", "--data", copy, "--object", 7, "--from", rest);
    stoa(0, "device", "import", "--data", copy, "--object", 7, "--from", rest); // changes nothing
    try (Device from = Device.open(new FileDisk(data), DeviceConfig.standard());
        Device to = Device.open(new FileDisk(copy), DeviceConfig.standard())) {
      VersionedObject source = from.object(42);
      assertEquals(source.versionState(), to.object(7).versionState());
      assertArrayEquals(source.read(0, 200), to.object(7).read(0, 200));
    }
  }

  @Test
  void damageIsToldAsByScrub() throws Exception {
    assertTrue(stoa(0, "device", "scrub", "--data", data).contains("nothing is damaged"));
    Path segment = data.resolve("segment-00000001");
    byte[] bytes = Files.readAllBytes(segment);
    bytes[new String(bytes, ISO_8859_1).indexOf("third")] ^= 1;
    Files.write(segment, bytes);
    String said = stoa(1, "device", "scrub", "--data", data, "--json");
    JsonObject found = JsonParser.parseString(said).getAsJsonObject();
    assertFalse(found.getAsJsonArray("damages").isEmpty(), said);
    assertEquals(stoa(1, "scrub", "--data", data), stoa(1, "device", "scrub", "--data", data));
  }

  @Test
  void whatIsNoDeviceOrIsOpenOrIsOfAStoreIsRefused() {
    Path none = directory.resolve("none");
    stoa(2, "device");
    stoa(2, "device", "stat");
    stoa(2, "device", "stat", "--data", none);
    assertFalse(Files.exists(none));
    stoa(2, "device", "stat", "--data", data, "--object", 5);
    stoa(2, "device", "stat", "--data", data, "--object", "x");
    try (Device _ = Device.open(new FileDisk(data), DeviceConfig.standard())) {
      stoa(2, "device", "stat", "--data", data);
    }
    Path file = directory.resolve("updates");
    stoa(0, "device", "export", "--data", data, "--object", 42, "--to", file);
    Path store = directory.resolve("store");
    try (Stoa stoa = Stoa.open("file:" + store)) {
      stoa.get(Blob.class, "b").write(0, new byte[10]);
    }
    String said = stoa(2, "device", "import", "--data", store, "--object", 1, "--from", file);
    assertTrue(said.contains("is of a store"), said);
    stoa(0, "device", "stat", "--data", store);
  }
}
