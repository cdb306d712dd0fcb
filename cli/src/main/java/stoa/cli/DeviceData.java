package stoa.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import stoa.base.StreamId;
import stoa.storage.Device;
import stoa.storage.disk.AlreadyOpen;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.FileDisk;
import stoa.storage.disk.StorageException;

/// The option that names the directory of a storage device, and uses of the device in it.
final class DeviceData {
  private static final String NAME = "name:";

  @Spec(Spec.Target.MIXEE)
  private @Nullable CommandSpec spec;

  @Option(
      names = "--data",
      required = true,
      paramLabel = "DIR",
      description = "The directory of the device, which no process has open.")
  private Path data = Path.of("");

  /// Creates the option.
  DeviceData() {}

  /// Returns the directory.
  Path directory() {
    return data;
  }

  /// Opens the device, which must exist, uses it and closes it.
  <T> T use(Function<Device, T> work) {
    if (!isDevice()) throw misuse(data + " holds no storage device");
    return open(work);
  }

  /// Opens the device or makes one in an empty or absent directory, uses it and closes it.
  <T> T make(Function<Device, T> work) {
    return open(work);
  }

  private <T> T open(Function<Device, T> work) {
    // In the calling thread: nothing goes on beside the command.
    try (var disk = new FileDisk(data);
        Device device = Device.open(disk, DeviceConfig.standard(), Runnable::run)) {
      return work.apply(device);
    } catch (AlreadyOpen open) {
      throw misuse(open.getMessage() + ". Close it there, or take a copy of the directory");
    } catch (StorageException failed) {
      throw new IllegalArgumentException(failed.getMessage(), failed);
    }
  }

  private boolean isDevice() {
    if (!Files.isDirectory(data)) return false;
    try (Stream<Path> files = Files.list(data)) {
      return files.anyMatch(file -> String.valueOf(file.getFileName()).matches("segment-\\d{8}"));
    } catch (IOException e) {
      throw new IllegalArgumentException(data + " cannot be read: " + e, e);
    }
  }

  ParameterException misuse(String why) {
    return new ParameterException(Objects.requireNonNull(spec).commandLine(), why);
  }

  /// Returns the id that an argument names.
  StreamId id(String text) {
    if (text.startsWith(NAME)) return StreamId.of(text.substring(NAME.length()));
    try {
      if (text.matches("[0-9a-f]{32}")) {
        long high = Long.parseUnsignedLong(text.substring(0, 16), 16);
        return new StreamId(high, Long.parseUnsignedLong(text.substring(16), 16));
      }
      return new StreamId(0, Long.parseUnsignedLong(text));
    } catch (NumberFormatException e) {
      throw misuse(
          "the object is "
              + text
              + "; it must be a number, 32 hexadecimal digits, or name: and a name");
    }
  }
}
