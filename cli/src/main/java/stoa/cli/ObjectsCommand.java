package stoa.cli;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import stoa.front.types.KeyText;
import stoa.programs.Words;
import stoa.wire.proto.LookReply;
import stoa.wire.proto.LookRequest;
import stoa.wire.proto.ObjectLine;
import stoa.wire.proto.ObjectsOf;
import stoa.wire.proto.TypeLine;
import stoa.wire.proto.TypesOf;

/// `stoa objects`: the types of a store, and the objects of one type.
@Command(
    name = "objects",
    description = "Lists the types of a store, or the objects of a type.",
    footer = {"", "The keys are printed as ./stoa show, history and diff read them."})
final class ObjectsCommand implements Callable<Integer> {
  private static final int PAGE = 1_000;

  @Spec private @Nullable CommandSpec spec;
  @Mixin private LookOptions looked = new LookOptions();

  @Parameters(
      arity = "0..1",
      paramLabel = "TYPE",
      description = "The stored name of a type. Default: all types")
  private @Nullable String type;

  @Option(names = "--skip", paramLabel = "N", description = "How many objects to pass over.")
  private long skip;

  @Option(
      names = "--max",
      paramLabel = "N",
      description = "How many objects to list. Default: ${DEFAULT-VALUE}")
  private int max = 50;

  @Option(
      names = "--sizes",
      description = "Tells how large their states are, which reads each of them.")
  private boolean sizes;

  private ObjectsCommand() {}

  @Override
  public Integer call() {
    var line = Objects.requireNonNull(spec).commandLine();
    if (skip < 0) throw new ParameterException(line, "--skip is " + skip + "; give 0 or more");
    if (max < 1) throw new ParameterException(line, "--max is " + max + "; give 1 or more");
    try (LookSource source = looked.open(line)) {
      String name = type;
      if (name == null) types(source, line.getOut());
      else objects(source, name, line.getOut());
    }
    return 0;
  }

  private static List<String> types(LookSource source) {
    return source.askAll(LookRequest.newBuilder().setTypes(TypesOf.newBuilder())).stream()
        .flatMap(reply -> reply.getTypesList().stream())
        .map(TypeLine::getType)
        .distinct()
        .toList();
  }

  private static SortedMap<String, TypeLine> all(LookSource source) {
    var types = new TreeMap<String, TypeLine>();
    for (LookReply reply : source.askAll(LookRequest.newBuilder().setTypes(TypesOf.newBuilder()))) {
      for (TypeLine one : reply.getTypesList()) {
        types.merge(
            one.getType(),
            one,
            (a, b) ->
                a.toBuilder()
                    .setObjects(a.getObjects() + b.getObjects())
                    .setMore(a.getMore() || b.getMore())
                    .build());
      }
    }
    return types;
  }

  /// Returns the types of a store.
  static JsonArray json(LookSource source) {
    var array = new JsonArray();
    for (TypeLine one : all(source).values()) {
      var told = new JsonObject();
      told.addProperty("type", one.getType());
      told.addProperty("objects", one.getObjects());
      if (one.getMore()) told.addProperty("more", true);
      array.add(told);
    }
    return array;
  }

  private void types(LookSource source, PrintWriter out) {
    if (looked.json()) {
      Json.print(out, json(source));
      return;
    }
    SortedMap<String, TypeLine> types = all(source);
    if (types.isEmpty()) out.println("the store has no objects");
    for (TypeLine one : types.values()) {
      String count = Words.count(one.getObjects()) + (one.getMore() ? " and more" : "");
      out.printf("%12s  %s%n", count, one.getType());
    }
    out.flush();
  }

  /// Which objects of a type to list.
  ///
  /// @param skip how many to pass over
  /// @param max how many to list at most
  /// @param sized whether to tell how large they are
  record Some(long skip, int max, boolean sized) {}

  /// Returns a page of the objects of a type.
  ///
  /// @throws IllegalArgumentException when the store has no such type
  static JsonObject json(LookSource source, String name, Some some) {
    var found = new ArrayList<ObjectLine>();
    boolean more = collected(source, name, some, found);
    var array = new JsonArray();
    for (ObjectLine one : found) {
      var told = new JsonObject();
      told.addProperty("key", KeyText.of(one.getKey().toByteArray()));
      told.addProperty("version", one.getVersion());
      if (one.getBytes() > 0) told.addProperty("bytes", one.getBytes() - 1);
      array.add(told);
    }
    var page = new JsonObject();
    page.add("objects", array);
    if (more) page.addProperty("next", some.skip + found.size());
    return page;
  }

  /// Returns the encoded keys of the objects of a type.
  static List<byte[]> keys(LookSource source, String name) {
    var found = new ArrayList<ObjectLine>();
    var _ = collect(source, name, new Some(0, Integer.MAX_VALUE, false), found);
    return found.stream().map(one -> one.getKey().toByteArray()).toList();
  }

  /// Finds a page of the objects of a type; returns whether there are more.
  private static boolean collected(
      LookSource source, String name, Some some, List<ObjectLine> found) {
    boolean more = collect(source, name, some, found);
    if (found.isEmpty() && types(source).stream().noneMatch(name::equals)) {
      throw new IllegalArgumentException(
          "the store has no type " + name + "; it has " + String.join(", ", types(source)));
    }
    return more;
  }

  private void objects(LookSource source, String name, PrintWriter out) {
    var some = new Some(skip, max, sizes);
    if (looked.json()) {
      Json.print(out, json(source, name, some));
      return;
    }
    var found = new ArrayList<ObjectLine>();
    boolean more = collected(source, name, some, found);
    if (found.isEmpty()) out.println("no objects of " + name + (skip > 0 ? " are left" : " exist"));
    else out.printf("%10s  %10s  %s%n", "version", sizes ? "size" : "", "key");
    for (ObjectLine one : found) {
      String size = !sizes ? "" : one.getBytes() == 0 ? "?" : Words.bytes(one.getBytes() - 1);
      String key = KeyText.of(one.getKey().toByteArray());
      out.printf("%10s  %10s  %s%n", Words.count(one.getVersion()), size, key);
    }
    if (more) out.println("there are more: --skip " + (skip + found.size()));
    out.flush();
  }

  /// Adds the objects that are asked for, group after group; returns whether there are more.
  private static boolean collect(
      LookSource source, String name, Some some, List<ObjectLine> found) {
    long passed = 0;
    for (int group = 0; group < source.groups(); group++) {
      long at = 0;
      do {
        boolean passing = passed < some.skip;
        long wanted = passing ? some.skip - passed : some.max - found.size();
        if (wanted == 0) wanted = 1; // whether there are more
        var asked =
            ObjectsOf.newBuilder()
                .setType(name)
                .setSkip(at)
                .setMax((int) Math.min(PAGE, wanted))
                .setSized(some.sized && !passing && found.size() < some.max);
        LookReply page =
            source.ask(LookRequest.newBuilder().setGroup(group).setObjects(asked).build());
        if (passing) passed += page.getObjectsCount();
        else if (found.size() < some.max) found.addAll(page.getObjectsList());
        else if (page.getObjectsCount() > 0) return true;
        at = page.getNext();
        if (at > 0 && found.size() >= some.max) return true;
      } while (at > 0);
    }
    return false;
  }
}
