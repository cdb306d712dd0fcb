package stoa.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.objects.EmbeddedEngine;
import stoa.objects.ObjectService;
import stoa.weave.UserClasses;

/// A store that no process has open, opened so that its files stay as they are. It executes the
/// code that the store has, and no class that is on a path by accident. One thread uses it.
final class ScratchStore implements AutoCloseable {
  private static final String SHARD = "shard-";

  private final ClassLoader before = Thread.currentThread().getContextClassLoader();
  private final UserClasses stored;
  private final Stoa store;

  /// Opens a store.
  ///
  /// @param line the invocation
  /// @throws ParameterException when the directory has no store, or belongs to one of several
  ///   servers
  ScratchStore(CommandLine line, Path directory) {
    if (Files.exists(directory.resolve(StoreFiles.MEMBER))) {
      throw new ParameterException(
          line,
          directory
              + " belongs to one of several servers that keep a store; start them, and give"
              + " --server");
    }
    var _ = new StoreFiles(line, directory); // refuses what is none
    String url = url(directory);
    long bytesMax = Runtime.getRuntime().maxMemory() / 4;
    stored = UserClasses.open(List.of(), _ -> {});
    Thread.currentThread().setContextClassLoader(stored);
    boolean open = false;
    try {
      store = EmbeddedEngine.openScratch(StoaConfig.of(url), bytesMax);
      open = true;
    } finally {
      if (!open) leave();
    }
  }

  /// Returns the URL of the store in a directory.
  static String url(Path directory) {
    int shards = 0;
    while (Files.isDirectory(directory.resolve(SHARD + shards))) shards++;
    return "file:" + directory + (shards > 0 ? "?shards=" + shards : "");
  }

  /// Returns what operators ask.
  ObjectService service() {
    return ObjectService.of(store, _ -> false);
  }

  private void leave() {
    Thread.currentThread().setContextClassLoader(before);
    try {
      stored.close();
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }

  @Override
  public void close() {
    try {
      store.close();
    } finally {
      leave();
    }
  }
}
