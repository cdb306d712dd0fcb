package stoa.node.access;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/// The kinds of requests that an identity may make.
public enum Role {
  /// Accessors, views, history, listings and listeners' values.
  READ,
  /// All methods, transactions, puts, writes and appends; includes [#READ].
  CALL,
  /// To begin and delete objects, and to release their past.
  CREATE,
  /// To try and deploy code, and to bring it as a client.
  DEPLOY,
  /// The commands of operators; includes [#READ].
  OPERATE,
  /// To add a server to those that keep the store, as one of them.
  MEMBER;

  /// Returns the word for it in a file of identities.
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /// Returns the role of a word.
  ///
  /// @throws IllegalArgumentException when there is none
  public static Role of(String word) {
    for (Role role : values()) if (role.word().equals(word)) return role;
    throw new IllegalArgumentException("there is no role " + word + "; the roles are " + words());
  }

  /// Returns the words for all roles, joined by commas.
  public static String words() {
    return Arrays.stream(values()).map(Role::word).collect(Collectors.joining(","));
  }

  /// Returns whether an identity with this role may do what needs another one.
  boolean includes(Role needed) {
    return this == needed || (needed == READ && (this == CALL || this == OPERATE));
  }
}
