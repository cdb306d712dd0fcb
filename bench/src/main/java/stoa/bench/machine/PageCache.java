package stoa.bench.machine;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;

/// The operating system's cache of files.
public final class PageCache {
  private static final int READ_ONLY = 0;
  private static final int DONT_NEED = 4; // POSIX_FADV_DONTNEED on Linux

  private PageCache() {}

  /// Makes the files below a folder durable and drops them from the page cache, with
  /// `posix_fadvise`, which needs no privilege. Returns whether the system supports that.
  public static boolean drop(Path folder) throws IOException {
    var linker = Linker.nativeLinker();
    if (!System.getProperty("os.name").equals("Linux")) return false;
    MethodHandle open =
        call(linker, "open", ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT);
    MethodHandle close = call(linker, "close", ValueLayout.JAVA_INT, ValueLayout.JAVA_INT);
    MethodHandle advise =
        call(
            linker,
            "posix_fadvise",
            ValueLayout.JAVA_INT,
            ValueLayout.JAVA_INT,
            ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_INT);
    boolean dropped = true;
    try (var files = Files.walk(folder);
        var arena = Arena.ofConfined()) {
      for (Path path : files.filter(Files::isRegularFile).toList()) {
        try (var file = FileChannel.open(path, StandardOpenOption.WRITE)) {
          file.force(false); // a page that is not yet on disk stays
        } catch (NoSuchFileException e) {
          continue; // merged or compacted away since the listing
        }
        MemorySegment name = arena.allocateFrom(path.toString());
        int descriptor = (int) open.invokeExact(name, READ_ONLY);
        if (descriptor < 0) {
          if (Files.exists(path)) throw new IOException(path + " cannot be opened");
          continue;
        }
        dropped &= (int) advise.invokeExact(descriptor, 0L, 0L, DONT_NEED) == 0;
        int closed = (int) close.invokeExact(descriptor);
        dropped &= closed == 0;
      }
    } catch (IOException | RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("a call of the C library failed", e);
    }
    return dropped;
  }

  @SuppressWarnings("restricted")
  private static MethodHandle call(
      Linker linker, String name, ValueLayout result, ValueLayout... arguments) {
    Optional<MemorySegment> symbol = linker.defaultLookup().find(name);
    return linker.downcallHandle(symbol.orElseThrow(), FunctionDescriptor.of(result, arguments));
  }
}
