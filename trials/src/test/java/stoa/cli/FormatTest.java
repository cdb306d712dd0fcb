package stoa.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.Message;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import stoa.Stoa;
import stoa.wire.proto.Answer;
import stoa.wire.proto.ClientFrame;
import stoa.wire.proto.Request;
import stoa.wire.proto.ServerFrame;

/// What earlier versions have written is read. [FormatSample] makes the samples.
class FormatTest {
  private static final int WITH_LOG = 7;

  @TempDir private Path directory;

  private static InputStream sample(String name) {
    return Objects.requireNonNull(FormatTest.class.getResourceAsStream("format-" + name), name);
  }

  private Path unpacked(int number) throws IOException {
    Path data = Files.createDirectories(directory.resolve("data"));
    try (var in = new ZipInputStream(sample(number + ".zip"))) {
      for (var entry = in.getNextEntry(); entry != null; entry = in.getNextEntry()) {
        Files.copy(in, data.resolve(entry.getName()));
      }
    }
    return data;
  }

  /// Returns the directory of a store that one server keeps. Since format 7 the sample is a replica
  /// with its log, and becomes such a store as a restored backup does.
  private Path store(int number) throws IOException {
    Path data = unpacked(number);
    if (number >= WITH_LOG) FormatSample.cutOff(data);
    return data;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7})
  void aStoreOpensWithAllThatItHad(int number) throws Exception {
    List<String> expected;
    try (var in = sample(number + ".txt")) {
      expected = new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
    }
    String url = "file:" + store(number);
    try (var stoa = Stoa.open(url)) {
      List<String> found = FormatSample.lines(stoa);
      for (int i = 0; i < Math.min(expected.size(), found.size()); i++) {
        assertEquals(expected.get(i), found.get(i), "line " + (i + 1));
      }
      assertEquals(expected.size(), found.size());
      // It goes on, too.
      stoa.map("map", String.class, Integer.class).put("later", 1);
      stoa.store().put("key", "later");
    }
    try (var stoa = Stoa.open(url)) {
      assertEquals(1, stoa.map("map", String.class, Integer.class).get("later"));
      assertEquals("later", stoa.store().get("key", String.class).orElseThrow());
    }
  }

  /// Since format 7: its log has a call that it has not applied.
  @Test
  void aReplicaAppliesWhatIsInItsLog() throws Exception {
    Path data = unpacked(WITH_LOG);
    FormatSample.apply(data);
    try (var stoa = Stoa.open("file:" + data)) {
      List<String> found = FormatSample.lines(stoa);
      assertEquals(
          1,
          found.stream().filter(line -> line.contains("called deposit(long) [1000]")).count(),
          found::toString);
    }
  }

  /// Since format 4, whatever way the calls before have kept the indexes.
  @ParameterizedTest
  @ValueSource(ints = {4, 5, 6, 7})
  void callsOnWhatHasIndexesGoOn(int number) throws Exception {
    Build program = FormatSample.orders(directory.resolve("classes"));
    String url = "file:" + store(number);
    Class<?> order = program.type("Order");
    List<String> wrong =
        program.client(
            url,
            stoa -> {
              var before = stoa.checkIndexes(order);
              Build.call(program.object(stoa, "Order", 1L), "rename", "dan");
              Build.call(program.object(stoa, "Order", 2L), "rename", "ann");
              return Stream.concat(before.stream(), stoa.checkIndexes(order).stream()).toList();
            });
    assertEquals(List.of(), wrong);
    assertEquals(List.of(), program.client(url, stoa -> stoa.checkIndexes(order)));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7})
  void recordedFramesAreRead(int number) throws Exception {
    var asked = EnumSet.noneOf(Request.WhatCase.class);
    var answered = EnumSet.noneOf(Answer.WhatCase.class);
    int frames = 0;
    try (var in = new DataInputStream(new GZIPInputStream(sample(number + ".frames.gz")))) {
      for (int direction = in.read(); direction >= 0; direction = in.read()) {
        byte[] bytes = in.readNBytes(in.readInt());
        Message frame;
        if (direction == 0) {
          var client = ClientFrame.parseFrom(bytes);
          client.getRequestsList().forEach(one -> asked.add(one.getWhatCase()));
          frame = client;
        } else {
          var server = ServerFrame.parseFrom(bytes);
          server.getAnswersList().forEach(one -> answered.add(one.getWhatCase()));
          frame = server;
        }
        known(frame);
        assertArrayEquals(bytes, frame.toByteArray());
        frames++;
      }
    }
    assertTrue(frames > 50, "" + frames);
    assertTrue(
        asked.containsAll(
            EnumSet.of(
                Request.WhatCase.OPEN,
                Request.WhatCase.CALL,
                Request.WhatCase.DELETE,
                Request.WhatCase.NAMES,
                Request.WhatCase.TYPE_NAMES,
                Request.WhatCase.BEGIN,
                Request.WhatCase.COMMIT,
                Request.WhatCase.TAKE_SNAPSHOT,
                Request.WhatCase.TRIM,
                Request.WhatCase.BLOB,
                Request.WhatCase.STREAM,
                Request.WhatCase.LISTEN,
                Request.WhatCase.KEY_PUT,
                Request.WhatCase.GOODBYE)),
        asked::toString);
    assertTrue(
        answered.containsAll(
            EnumSet.of(
                Answer.WhatCase.ANSWERED,
                Answer.WhatCase.DONE,
                Answer.WhatCase.NAMES,
                Answer.WhatCase.OUTCOME,
                Answer.WhatCase.DATA)),
        answered::toString);
  }

  /// Fails when a message has a field that this version does not know, or a case without a meaning.
  private static void known(Message message) {
    assertTrue(message.getUnknownFields().asMap().isEmpty(), message::toString);
    for (Object value : message.getAllFields().values()) {
      if (value instanceof Message part) known(part);
      if (!(value instanceof List<?> many)) continue;
      for (Object one : many) if (one instanceof Message part) known(part);
    }
  }
}
