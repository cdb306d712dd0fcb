package stoa.node;

import com.google.protobuf.ByteString;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import stoa.StoaException;
import stoa.objects.LookService;
import stoa.objects.Shown;
import stoa.wire.proto.EntryLine;
import stoa.wire.proto.HistoryOf;
import stoa.wire.proto.LookReply;
import stoa.wire.proto.LookRequest;
import stoa.wire.proto.ObjectLine;
import stoa.wire.proto.ObjectsOf;
import stoa.wire.proto.ShownBounds;
import stoa.wire.proto.StateLine;
import stoa.wire.proto.StateOf;
import stoa.wire.proto.TypeLine;
import stoa.wire.proto.UseLine;

/// Answers what operators ask of the objects of a store. Stateless.
public final class Looking {
  private static final int ELEMENTS_MAX = 100;
  private static final int TEXT_MAX = 400;

  private Looking() {}

  /// Answers a question; what is refused is in the reply. Waits for the disk.
  public static LookReply answer(LookService look, LookRequest asked) {
    var reply = LookReply.newBuilder();
    try {
      switch (asked.getWhatCase()) {
        case TYPES -> {
          for (LookService.Type one : look.types()) {
            reply.addTypes(
                TypeLine.newBuilder()
                    .setType(one.type())
                    .setObjects(one.objects())
                    .setMore(one.more()));
          }
        }
        case OBJECTS -> objects(look, asked.getObjects(), reply);
        case STATE -> reply.setState(state(look, asked.getState()));
        case HISTORY -> history(look, asked.getHistory(), reply);
        case USE -> {
          var watched = Duration.ofMillis(asked.getUse().getMillis());
          for (LookService.Used one : look.used(watched, asked.getUse().getMax())) {
            reply.addUses(
                UseLine.newBuilder()
                    .setObject(one.object())
                    .setChanges(one.changes())
                    .setRuns(one.runs())
                    .setWaits(one.waits())
                    .setBytes(one.bytes())
                    .setSlowest(one.slowest()));
          }
        }
        case AUDIT ->
            throw new IllegalArgumentException("a server tells the audit log, and no file does");
        case WHAT_NOT_SET ->
            throw new IllegalArgumentException("nothing is asked that this server knows");
      }
    } catch (StoaException | IllegalArgumentException refused) {
      reply.clear().setRefusal(CodeRequests.reason(refused));
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
      reply.clear().setRefusal("the server ends");
    }
    return reply.build();
  }

  private static void objects(LookService look, ObjectsOf asked, LookReply.Builder reply) {
    var page = look.objects(asked.getType(), asked.getSkip(), asked.getMax(), asked.getSized());
    for (LookService.Listed one : page.objects()) {
      reply.addObjects(
          ObjectLine.newBuilder()
              .setKey(ByteString.copyFrom(one.key()))
              .setVersion(one.version())
              .setBytes(one.bytes() + 1));
    }
    reply.setNext(page.next());
  }

  private static Shown.Bounds bounds(ShownBounds asked) {
    int elements = asked.getElementsMax();
    int text = asked.getTextMax();
    return new Shown.Bounds(elements == 0 ? ELEMENTS_MAX : elements, text == 0 ? TEXT_MAX : text);
  }

  private static StateLine state(LookService look, StateOf asked) {
    LookService.At at =
        switch (asked.getAtCase()) {
          case VERSION -> new LookService.At.Version(asked.getVersion());
          case TIME_MICROS -> new LookService.At.Time(asked.getTimeMicros());
          case AT_NOT_SET -> new LookService.At.Now();
        };
    LookService.State found =
        look.state(asked.getType(), asked.getKey().toByteArray(), at, bounds(asked.getBounds()));
    return StateLine.newBuilder()
        .setVersion(found.version())
        .setNewest(found.newest())
        .setTimeMicros(found.micros())
        .setExists(found.exists())
        .setLent(found.lent())
        .setThrown(found.thrown())
        .setBytes(found.bytes())
        .setState(shown(found.state()))
        .build();
  }

  private static void history(LookService look, HistoryOf asked, LookReply.Builder reply) {
    LookService.Entries found =
        look.history(
            asked.getType(),
            asked.getKey().toByteArray(),
            asked.getFrom(),
            asked.getTo(),
            asked.getResults(),
            bounds(asked.getBounds()));
    reply.setOldest(found.oldest()).setNewest(found.newest());
    for (LookService.Entry one : found.entries()) reply.addEntries(shown(one));
  }

  private static EntryLine shown(LookService.Entry entry) {
    var line =
        EntryLine.newBuilder()
            .setVersion(entry.version())
            .setTimeMicros(entry.micros())
            .setWhat(entry.what())
            .setMethod(entry.method())
            .setOfMethod(entry.ofMethod())
            .setAbout(entry.about())
            .setNote(entry.note());
    for (Shown argument : entry.arguments()) line.addArguments(shown(argument));
    var client = entry.client();
    if (client != null) line.setSession(client.session()).setSequence(client.sequence());
    @Nullable Shown result = entry.result();
    if (result != null) line.setResult(shown(result));
    return line.build();
  }

  private static stoa.wire.proto.Shown shown(Shown shown) {
    var built =
        stoa.wire.proto.Shown.newBuilder()
            .setKind(stoa.wire.proto.Shown.Kind.valueOf(shown.kind().name()))
            .setName(shown.name())
            .setType(shown.type())
            .setText(shown.text())
            .setSize(shown.size());
    for (Shown part : shown.parts()) built.addParts(shown(part));
    return built.build();
  }
}
