package stoa.cli;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import stoa.objects.Dictionary;
import stoa.programs.Words;
import stoa.storage.disk.AlreadyOpen;
import stoa.storage.disk.FileDisk;
import stoa.storage.disk.StorageException;
import stoa.storage.upkeep.Survey;
import stoa.store.replicas.Losses;

/// The files of a store that no process has open, for the commands that look for damage. One owner
/// uses it once.
final class StoreFiles {
  private static final int DEPTH_MAX = 2;

  // The bytes between two progress messages.
  private static final long PROGRESS_BYTES = 256L << 20;

  /// This file marks the directory of one of several servers.
  static final String MEMBER = "member.properties";

  private final CommandLine line;
  private final Path directory;
  private final List<Path> devices;
  private final Losses losses = Dictionary.losses();
  private Survey.Found found = new Survey.Found(0, 0, 0);

  /// Opens the files.
  ///
  /// @param line the invocation
  /// @throws ParameterException when the directory has no store
  StoreFiles(CommandLine line, Path directory) {
    this.line = line;
    this.directory = directory;
    this.devices = devices(directory);
    if (devices.isEmpty()) throw misuse(directory + " holds no store");
  }

  ParameterException misuse(String why) {
    return new ParameterException(line, why);
  }

  private static List<Path> devices(Path directory) {
    if (!Files.isDirectory(directory)) return List.of();
    try (Stream<Path> files = Files.walk(directory, DEPTH_MAX)) {
      return files
          .filter(file -> String.valueOf(file.getFileName()).matches("segment-\\d{8}"))
          .map(file -> Objects.requireNonNull(file.toAbsolutePath().getParent()))
          .distinct()
          .sorted()
          .toList();
    } catch (IOException e) {
      throw new IllegalArgumentException(directory + " cannot be read: " + e, e);
    }
  }

  /// Returns the directories of its devices.
  List<Path> devices() {
    return devices;
  }

  /// Reads everything, and once more when something is damaged or not applied.
  ///
  /// @throws ParameterException when the store is open
  Losses read() {
    survey(true);
    losses.next();
    boolean changes = !losses.damages().isEmpty() || !losses.lost().isEmpty();
    if (changes || losses.unapplied() > 0) survey(false);
    return losses;
  }

  private void survey(boolean counts) {
    for (Path device : devices) {
      Survey.Found here = guarded(() -> Survey.of(new FileDisk(device), visitor(device)));
      if (counts) found = sum(found, here);
    }
  }

  /// Returns the progress output for a device.
  Survey.Visitor visitor(Path device) {
    return losses.visitor(new Progress(device));
  }

  /// Reads or writes files.
  <T> T guarded(Supplier<T> work) {
    try {
      return work.get();
    } catch (AlreadyOpen open) {
      throw misuse(open.getMessage() + ". Stop the server, or take a copy of the directory");
    } catch (StorageException failed) {
      throw new IllegalArgumentException(failed.getMessage(), failed);
    }
  }

  private static Survey.Found sum(Survey.Found one, Survey.Found other) {
    return new Survey.Found(
        one.segments() + other.segments(),
        one.records() + other.records(),
        one.bytes() + other.bytes());
  }

  private final class Progress implements Survey.Visitor {
    private final Path device;
    private long told;

    Progress(Path device) {
      this.device = device;
    }

    @Override
    public void item(Survey.Place place, Survey.Bytes bytes) {}

    @Override
    public void damage(Survey.Damage damage) {}

    @Override
    public void progress(long bytes, long of) {
      if (bytes - told < PROGRESS_BYTES) return;
      told = bytes;
      PrintWriter err = line.getErr();
      err.printf(Locale.ROOT, "%s: %s of %s read%n", device, Words.bytes(bytes), Words.bytes(of));
      err.flush();
    }
  }

  /// Returns what was read, damaged and lost, a line each.
  List<String> report() {
    var lines = new ArrayList<String>();
    lines.add(
        "%s: %s in %s of %s"
            .formatted(
                directory,
                Words.count(found.records(), "whole record"),
                Words.count(found.segments(), "segment"),
                Words.bytes(found.bytes())));
    long unapplied = losses.unapplied();
    if (unapplied > 0) {
      lines.add(
          Words.count(unapplied, "record")
              + " of the servers' log not applied here yet; a salvaged store is without them");
    }
    List<Survey.Damage> damages = losses.damages();
    List<Losses.Lost> lost = losses.lost();
    if (damages.isEmpty() && lost.isEmpty()) {
      lines.add("nothing is damaged");
      return lines;
    }
    lines.add(Words.count(damages.size(), "damage"));
    for (Survey.Damage damage : damages) lines.add("  " + words(damage));
    lines.add(Words.count(lost.size(), "object or stream") + " with losses");
    for (Losses.Lost one : lost) lines.add("  " + words(one));
    return lines;
  }

  /// Returns what was read, damaged and lost.
  JsonObject json() {
    var said = new JsonObject();
    said.addProperty("segments", found.segments());
    said.addProperty("records", found.records());
    said.addProperty("bytes", found.bytes());
    var damages = new JsonArray();
    for (Survey.Damage damage : losses.damages()) damages.add(words(damage));
    said.add("damages", damages);
    var lost = new JsonArray();
    for (Losses.Lost one : losses.lost()) lost.add(words(one));
    said.add("lost", lost);
    return said;
  }

  private static String words(Survey.Damage damage) {
    var text = new StringBuilder(damage.file()).append(' ').append(damage.what());
    if (damage.bytes() > 0) text.append("; ").append(Words.bytes(damage.bytes())).append(" lost");
    for (Survey.Place item : damage.items()) {
      if (item.sort() == Survey.Sort.RECORD) continue; // told with its object
      text.append("; ").append(item.sort() == Survey.Sort.DATA ? "bytes" : "a change");
      text.append(" of the versioned object ").append(item.object());
      if (item.sort() == Survey.Sort.DATA) {
        text.append(" from ").append(item.offset());
        text.append(" to ").append(item.offset() + item.bytes());
      }
    }
    return text.toString();
  }

  private static String words(Losses.Lost lost) {
    if (!lost.isState()) {
      return lost.name()
          + ": "
          + Words.count(lost.versions(), "entry")
          + " lost between "
          + lost.first()
          + " and "
          + lost.last();
    }
    String range =
        lost.first() == lost.last()
            ? "version " + lost.first()
            : "versions " + lost.first() + " to " + lost.last();
    long later = lost.last() - lost.first() + 1 - lost.versions();
    String why =
        later == 0
            ? ""
            : ": "
                + Words.count(lost.versions())
                + " damaged, and "
                + Words.count(later)
                + " that cannot be made without them";
    return lost.name() + ": " + range + " lost" + why;
  }
}
