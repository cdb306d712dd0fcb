package stoa.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.ListenerLimits;
import stoa.Stoa;
import stoa.base.TraceParent;
import stoa.front.Service;
import stoa.front.types.Keys;

/// The code of handlers of keys.
class HandlerCodesTest {
  private static final String READING = "public record Reading(long degrees) {}";
  private static final String ALARM =
      "public record Alarm() implements KeyHandler<Reading, String> {"
          + " public String handle(Object key, Reading value, Reading before) {"
          + " return value == null ? null : \"w000 \" + value.degrees(); } }";

  @TempDir Path directory;

  private static String word(int version) {
    return "w%03d".formatted(version);
  }

  /// Another version of the program, which says another word.
  private static Map<String, byte[]> version(Program program, int number) {
    var files = new HashMap<>(program.files());
    files.replaceAll((_, file) ->
        new String(file, StandardCharsets.ISO_8859_1)
            .replace(word(0), word(number))
            .getBytes(StandardCharsets.ISO_8859_1));
    return files;
  }

  private record Heard(LinkedBlockingQueue<byte[]> told) implements Service.Sink {
    @Override
    public void event(long number, byte[] event, @Nullable TraceParent trace) {
      told.add(event);
    }

    @Override
    public void ended(long number, byte[] cause) {
      told.add(cause);
    }

    @Override
    public void failed(RuntimeException cause) {
      told.add(new byte[0]);
    }

    @Nullable Object next(LocalService stoa) {
      try {
        byte[] event = told.poll(60, TimeUnit.SECONDS);
        return stoa.marshaller().value(Objects.requireNonNull(event, "no event came"));
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  @Test
  void listenersKeepTheirCodeHoweverManyVersionsFollow() {
    var program = new Program(directory, READING, ALARM);
    program.run(() -> {
      try (Stoa stoa = Stoa.open("memory:")) {
        LocalService local = LocalService.of(stoa);
        ObjectService service = ObjectService.of(stoa, _ -> true);
        Class<?> alarm = program.type("Alarm");
        local.admit(alarm);
        byte[] handler = local.marshaller().value(program.make("Alarm"));
        byte[] name = Keys.encode("key");
        var all = new ArrayList<Heard>();
        int versions = StoredCodes.PAST_MAX + 3;
        for (int number = 0; number < versions; number++) {
          if (number > 0) {
            List<CodeService.Finding> found =
                service.code().deploy(version(program, number), _ -> {});
            assertTrue(found.stream().allMatch(CodeService.Finding::fits), found::toString);
          }
          if (number > StoredCodes.PAST_MAX) System.gc(); // what nobody holds goes
          KeyService keys = service.keys();
          var heard = new Heard(new LinkedBlockingQueue<>());
          all.add(heard);
          keys.listen(1, number + 1, keys.key(name), handler, ListenerLimits.STANDARD).send(heard);
          Object reading = program.make("Reading", (long) number);
          stoa.store().put("key", reading);
          for (int each = 0; each <= number; each++) {
            assertEquals(word(each) + " " + number, all.get(each).next(local));
          }
        }
        return null;
      }
    });
  }
}
