package stoa.cli;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import stoa.base.StreamId;
import stoa.programs.Words;
import stoa.storage.Device;
import stoa.storage.DeviceStats;
import stoa.storage.object.ObjectReader.CoveredBytes;
import stoa.storage.object.ObjectStat;
import stoa.storage.object.VersionState;
import stoa.storage.object.VersionedObject;

/// `stoa device`: the files of a storage device that a program uses by itself.
@Command(
    name = "device",
    description = "Looks into the files of a storage device, and copies objects of it.",
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {
      DeviceCommand.Stat.class,
      DeviceCommand.Scrubbing.class,
      DeviceCommand.Export.class,
      DeviceCommand.Import.class,
      HelpCommand.class
    },
    footer = {
      "",
      "A storage device is the library of the module storage: versioned objects of",
      "bytes. No process may have it open. Opening it recovers it, as a program does.",
      "An OBJECT is a number, 32 hexadecimal digits, or name: and a name.",
      "Exits with 0; with 1 when something is damaged or failed; with 2 after a wrong",
      "invocation, or when the device is open."
    })
final class DeviceCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;

  private DeviceCommand() {}

  @Override
  public Integer call() {
    throw new CommandLine.ParameterException(
        Objects.requireNonNull(spec).commandLine(), "device needs a command, such as stat");
  }

  private static PrintWriter out(@Nullable CommandSpec spec) {
    return Objects.requireNonNull(spec).commandLine().getOut();
  }

  /// `stoa device stat`: the size of a device and of its objects.
  @Command(name = "stat", description = "Shows the sizes and the versions of the objects.")
  static final class Stat implements Callable<Integer> {
    private static final int EXTENTS_MAX = 1000;

    @Spec private @Nullable CommandSpec spec;
    @Mixin private DeviceData data = new DeviceData();

    @Option(
        names = "--object",
        paramLabel = "OBJECT",
        description = "Shows one object, with the version of each range of bytes.")
    private @Nullable String object;

    @Option(
        names = "--limit",
        paramLabel = "N",
        defaultValue = "1000",
        description = "The most objects to show. Default: ${DEFAULT-VALUE}")
    private int limit;

    @Option(names = "--json", description = "Prints JSON.")
    private boolean json;

    private Stat() {}

    @Override
    public Integer call() {
      String one = object;
      if (limit < 0) throw data.misuse("--limit is " + limit + "; at least 0");
      data.use(device -> one == null ? all(device) : one(device, data.id(one)));
      return 0;
    }

    private boolean all(Device device) {
      var objects = new ArrayList<StreamId>();
      long[] count = {0};
      device.objects(
          null,
          id -> {
            if (count[0]++ < limit) objects.add(id);
            return true;
          });
      PrintWriter out = out(spec);
      DeviceStats stats = device.stats();
      if (json) {
        var said = new JsonObject();
        said.addProperty("segments", stats.segments());
        said.addProperty("heldBytes", device.heldBytes());
        said.addProperty("indexBytes", stats.runBytes());
        said.addProperty("objects", count[0]);
        var shown = new JsonArray();
        for (StreamId id : objects) shown.add(json(device.object(id)));
        said.add("shown", shown);
        Json.print(out, said);
        return true;
      }
      out.printf(
          "%s: %s, %s of %s, index of %s%n",
          data.directory(),
          Words.count(count[0], "object"),
          Words.count(stats.segments(), "segment"),
          Words.bytes(device.heldBytes()),
          Words.bytes(stats.runBytes()));
      for (StreamId id : objects) out.println(words(device.object(id)));
      if (count[0] > objects.size()) {
        out.println(Words.count(count[0] - objects.size()) + " more; --limit shows them");
      }
      out.flush();
      return true;
    }

    private boolean one(Device device, StreamId id) {
      VersionedObject shown = device.object(id);
      if (!shown.exists()) throw data.misuse("there is no object " + id);
      var extents = new ArrayList<CoveredBytes>();
      shown.history(
          0, Long.MAX_VALUE, extent -> extents.add(extent) && extents.size() <= EXTENTS_MAX);
      boolean more = extents.size() > EXTENTS_MAX;
      if (more) extents.removeLast();
      PrintWriter out = out(spec);
      if (json) {
        JsonObject said = json(shown);
        var history = new JsonArray();
        for (CoveredBytes extent : extents) {
          var range = new JsonObject();
          range.addProperty("offset", extent.offset());
          range.addProperty("length", extent.length());
          range.addProperty("version", extent.version());
          range.addProperty("content", extent.content().name());
          history.add(range);
        }
        said.add("history", history);
        said.addProperty("moreHistory", more);
        Json.print(out, said);
        return true;
      }
      out.println(words(shown));
      for (CoveredBytes extent : extents) {
        String content =
            switch (extent.content()) {
              case DATA -> "bytes";
              case HOLE -> "removed bytes";
            };
        long last = extent.offset() + extent.length() - 1;
        out.printf(
            "  %d to %d: %s of version %d%n", extent.offset(), last, content, extent.version());
      }
      if (more) out.println("  and more");
      out.flush();
      return true;
    }

    private static JsonObject json(VersionedObject object) {
      ObjectStat stat = object.stat();
      var said = new JsonObject();
      said.addProperty("id", object.id().toString());
      said.addProperty("size", stat.size());
      said.addProperty("bytes", stat.bytes());
      said.addProperty("extents", stat.extents());
      said.addProperty("attributes", stat.attributes());
      said.addProperty("versions", object.versionState().toString());
      said.addProperty("highestVersion", stat.highestVersion());
      said.addProperty("missingVersions", stat.missingVersions());
      said.addProperty("snapshots", stat.snapshots());
      return said;
    }

    private static String words(VersionedObject object) {
      ObjectStat stat = object.stat();
      return "%s: versions %s; size %s; %s, %s, %s"
          .formatted(
              object.id(),
              object.versionState(),
              Words.count(stat.size()),
              Words.count(stat.extents(), "extent"),
              Words.count(stat.attributes(), "attribute"),
              Words.count(stat.snapshots(), "snapshot"));
    }
  }

  /// `stoa device scrub`: looks for damage, as `stoa scrub` does.
  @Command(name = "scrub", description = "Reads all files and reports damage; changes nothing.")
  static final class Scrubbing implements Callable<Integer> {
    @Spec private @Nullable CommandSpec spec;
    @Mixin private DeviceData data = new DeviceData();

    @Option(names = "--json", description = "Prints JSON.")
    private boolean json;

    private Scrubbing() {}

    @Override
    public Integer call() {
      return ScrubCommand.scrub(
          Objects.requireNonNull(spec).commandLine(),
          data.directory(),
          json ? ScrubCommand.Form.JSON : ScrubCommand.Form.WORDS);
    }
  }

  /// `stoa device export`: the updates of an object, in a file.
  @Command(
      name = "export",
      description = "Writes an object, or the updates that a copy of it lacks, to a file.",
      footer = {"", "The file has the present bytes, attributes and versions, not the snapshots."})
  static final class Export implements Callable<Integer> {
    @Spec private @Nullable CommandSpec spec;
    @Mixin private DeviceData data = new DeviceData();

    @Option(names = "--object", required = true, paramLabel = "OBJECT", description = "The object.")
    private String object = "";

    @Option(names = "--to", required = true, paramLabel = "FILE", description = "The file to make.")
    private Path to = Path.of("");

    @Option(
        names = "--have",
        paramLabel = "VERSIONS",
        description = "Versions of the copy, as stat shows them, such as 1-47,49. Default: none")
    private @Nullable String have;

    private Export() {}

    @Override
    public Integer call() {
      StreamId id = data.id(object);
      VersionState peer = peer();
      VersionState sent =
          data.use(device -> {
            VersionedObject source = device.object(id);
            if (!source.exists()) throw data.misuse("there is no object " + id);
            if (Files.exists(to)) throw data.misuse(to + " exists; choose another file");
            try {
              write(source, peer);
            } catch (IOException e) {
              throw new IllegalArgumentException(to + " cannot be written: " + e.getMessage(), e);
            }
            return source.versionState().minus(peer);
          });
      out(spec).println("versions " + sent + " of object " + id + " are in " + to);
      out(spec).flush();
      return 0;
    }

    private VersionState peer() {
      String given = have;
      try {
        return given == null ? VersionState.EMPTY : VersionState.parse(given);
      } catch (IllegalArgumentException e) {
        throw data.misuse("--have: " + e.getMessage());
      }
    }

    private void write(VersionedObject source, VersionState peer) throws IOException {
      Path part = to.resolveSibling(to.getFileName() + ".part");
      try (FileChannel file =
              FileChannel.open(
                  part,
                  StandardOpenOption.CREATE,
                  StandardOpenOption.TRUNCATE_EXISTING,
                  StandardOpenOption.WRITE);
          OutputStream bytes = new BufferedOutputStream(Channels.newOutputStream(file), 1 << 16)) {
        source.updatesMissingFrom(peer, bytes);
        bytes.flush();
        file.force(true);
      }
      var _ = Files.move(part, to, StandardCopyOption.ATOMIC_MOVE);
    }
  }

  /// `stoa device import`: applies the updates in a file to an object.
  @Command(
      name = "import",
      description = "Applies the updates in a file to an object, and makes both if need be.",
      footer = {
        "",
        "Versions that the object has already change nothing, so a repeated import is",
        "harmless. The device must not be one of a store, whose objects the store changes."
      })
  static final class Import implements Callable<Integer> {
    @Spec private @Nullable CommandSpec spec;
    @Mixin private DeviceData data = new DeviceData();

    @Option(
        names = "--object",
        required = true,
        paramLabel = "OBJECT",
        description = "The object; it may be another one than the exported.")
    private String object = "";

    @Option(
        names = "--from",
        required = true,
        paramLabel = "FILE",
        description = "The file of an export.")
    private Path from = Path.of("");

    private Import() {}

    @Override
    public Integer call() {
      StreamId id = data.id(object);
      if (!Files.isRegularFile(from)) throw data.misuse("there is no file " + from);
      VersionState state =
          data.make(device -> {
            var records = new ArrayList<StreamId>();
            device.withRecords(
                null,
                found -> {
                  records.add(found);
                  return false;
                });
            if (!records.isEmpty()) {
              throw data.misuse(
                  data.directory()
                      + " has records beside objects: it is of a store, which alone changes it");
            }
            try (InputStream bytes = new BufferedInputStream(Files.newInputStream(from), 1 << 16)) {
              device.object(id).apply(bytes);
            } catch (IOException e) {
              throw new IllegalArgumentException(from + " cannot be read: " + e.getMessage(), e);
            }
            return device.object(id).versionState();
          });
      out(spec).println("object " + id + " has the versions " + state);
      out(spec).flush();
      return 0;
    }
  }
}
