package stoa.node.access;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import stoa.base.Permissions;

/// Where a server has its identities from. It reads a file again when that changes. Immutable.
public sealed interface IdentitySource {
  /// Clients prove nothing.
  IdentitySource NONE = new Words(List.of(), Set.of());

  /// Tokens that the program has.
  ///
  /// @param tokens of which clients send one; none when they prove nothing
  /// @param deploying those whose clients may deploy; none when all may
  record Words(List<String> tokens, Set<String> deploying) implements IdentitySource {
    /// Copies the tokens.
    public Words {
      tokens = List.copyOf(tokens);
      deploying = Set.copyOf(deploying);
    }

    @Override
    public List<Path> files() {
      return List.of();
    }

    @Override
    public Identities read() {
      return Identities.ofTokens(tokens, deploying);
    }

    @Override
    public String toString() {
      return tokens.size() + " tokens";
    }
  }

  /// A file with a token on each line. The word `deploy` stands behind some: then only clients with
  /// these may deploy.
  record Tokens(Path file) implements IdentitySource {
    private static final String DEPLOY = "deploy";

    @Override
    public List<Path> files() {
      return List.of(file);
    }

    @Override
    public Identities read() throws IOException {
      Set<String> deploying =
          lines()
              .filter(words -> words.length > 1)
              .map(words -> words[0])
              .collect(Collectors.toSet());
      return Identities.ofTokens(tokens(), deploying);
    }

    /// Returns the tokens.
    ///
    /// @throws IllegalArgumentException when the file is open to others, or has no token
    /// @throws IOException when it cannot be read
    public List<String> tokens() throws IOException {
      return lines().map(words -> words[0]).distinct().toList();
    }

    private Stream<String[]> lines() throws IOException {
      Permissions.requirePrivate(file);
      List<String[]> lines =
          text(file)
              .lines()
              .map(String::strip)
              .filter(line -> !line.isEmpty())
              .map(line -> line.split("\\s+"))
              .toList();
      if (lines.isEmpty()) {
        throw new IllegalArgumentException(file + " is empty; write a long random word into it");
      }
      for (String[] words : lines) {
        if (words.length == 1 || (words.length == 2 && words[1].equals(DEPLOY))) continue;
        throw new IllegalArgumentException(
            file
                + " has a line of "
                + words.length
                + " words; a line is a token, or a token and "
                + DEPLOY
                + ". A file with names and roles is given by --identities");
      }
      return lines.stream();
    }
  }

  /// A file as [Identities] describes it.
  record Named(Path file) implements IdentitySource {
    @Override
    public List<Path> files() {
      return List.of(file);
    }

    @Override
    public Identities read() throws IOException {
      Permissions.requirePrivate(file);
      return Identities.parse(text(file), file.toString());
    }
  }

  /// Returns the files that it reads.
  List<Path> files();

  /// Reads the identities.
  ///
  /// @throws IllegalArgumentException when a file is open to others, or is malformed
  /// @throws IOException when a file cannot be read
  Identities read() throws IOException;

  private static String text(Path file) throws IOException {
    if (Files.size(file) > Identities.BYTES_MAX) {
      throw new IllegalArgumentException(
          file + " has more than " + Identities.BYTES_MAX + " bytes; it is no file of identities");
    }
    return Files.readString(file, StandardCharsets.UTF_8);
  }
}
