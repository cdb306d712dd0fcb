package stoa.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/// The options of `serve` that come from a file or from variables of the environment.
///
/// The name of a setting is that of its option without the dashes. Its variable has the same name
/// in capitals behind `STOA_`, with `_` for `-`. An option on the command line goes before its
/// variable, and the variable before the file. Immutable.
///
/// @param values the value and the source of each setting, by name
record ServeSettings(Map<String, Setting> values) {
  /// The name of the option that names the file.
  static final String FILE = "config";

  private static final String PREFIX = "STOA_";

  // Options of other commands that have variables, unless the command reads files with `--data`.
  private static final List<String> OPERATORS =
      List.of(
          "--server", "--tls-certificate", "--token-file", "--client-certificate", "--client-key");

  /// A value.
  ///
  /// @param source where it stands: a file or a variable
  record Setting(String value, String source) {}

  /// Returns the options that the settings can name.
  static List<OptionSpec> options(CommandSpec command) {
    return command.options().stream()
        .filter(option -> !option.usageHelp() && !name(option).equals(FILE))
        .toList();
  }

  /// Returns the name of an option's setting.
  static String name(OptionSpec option) {
    return option.longestName().substring(2);
  }

  /// Returns the variable of a setting. That of the secret is the one which [ServersSecret] reads
  /// for all commands.
  static String variable(String name) {
    if (name.equals("secret")) return ServersSecret.VARIABLE;
    return PREFIX + name.toUpperCase(Locale.ROOT).replace('-', '_');
  }

  /// Returns the value of a setting's variable; null when it is absent or empty.
  private static @Nullable String value(Map<String, String> environment, String name) {
    String value = environment.get(variable(name));
    return value == null || value.isEmpty() ? null : value;
  }

  /// Reads the settings of a command.
  ///
  /// @param arguments those of the command line, which may name the file
  /// @throws IllegalArgumentException when the file cannot be read, or names no setting
  static ServeSettings read(
      CommandSpec command, List<String> arguments, Map<String, String> environment) {
    var values = new TreeMap<String, Setting>();
    String file = value(arguments, "--" + FILE);
    if (file == null) file = value(environment, FILE);
    List<String> names = options(command).stream().map(ServeSettings::name).toList();
    if (file != null) values.putAll(inFile(Path.of(file), names));
    for (String name : names) {
      String value = value(environment, name);
      if (value != null) values.put(name, new Setting(value, variable(name)));
    }
    return new ServeSettings(values);
  }

  /// Returns the arguments of a command with those that the settings add. `serve` has all of them;
  /// other commands have the variables of their connection to a server.
  ///
  /// @param given the arguments behind the command's name
  static String[] expand(
      CommandSpec command, String name, List<String> given, Map<String, String> environment) {
    var all = new ArrayList<String>();
    if (name.equals("serve")) {
      ServeSettings settings = read(command, given, environment);
      for (OptionSpec option : options(command)) {
        Setting setting = settings.values().get(name(option));
        if (setting == null || isGiven(given, option.longestName())) continue;
        if (!isFlag(option)) all.add(option.longestName() + "=" + setting.value());
        else if (isOn(name(option), setting)) all.add(option.longestName());
      }
      String file = value(environment, FILE);
      if (file != null && !isGiven(given, "--" + FILE)) all.add("--" + FILE + "=" + file);
    } else if (!isGiven(given, "--data")) {
      for (String option : OPERATORS) {
        String value = value(environment, option.substring(2));
        if (value == null || command.findOption(option) == null || isGiven(given, option)) continue;
        all.add(option + "=" + value);
      }
    }
    all.addAll(given);
    return all.toArray(String[]::new);
  }

  /// Returns whether an option has no value.
  static boolean isFlag(OptionSpec option) {
    return option.arity().max() == 0;
  }

  private static boolean isOn(String name, Setting setting) {
    return switch (setting.value()) {
      case "true" -> true;
      case "false" -> false;
      default ->
          throw new IllegalArgumentException(
              name + " in " + setting.source() + " is true or false, not " + setting.value());
    };
  }

  private static boolean isGiven(List<String> arguments, String option) {
    return arguments.stream()
        .anyMatch(argument -> argument.equals(option) || argument.startsWith(option + "="));
  }

  private static @Nullable String value(List<String> arguments, String option) {
    for (int i = 0; i < arguments.size(); i++) {
      String argument = arguments.get(i);
      if (argument.startsWith(option + "=")) return argument.substring(option.length() + 1);
      if (argument.equals(option) && i + 1 < arguments.size()) return arguments.get(i + 1);
    }
    return null;
  }

  private static Map<String, Setting> inFile(Path file, List<String> names) {
    var properties = new Properties();
    try (var reader = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
      properties.load(reader);
    } catch (IOException | IllegalArgumentException e) {
      throw new IllegalArgumentException("the settings in " + file + " cannot be read: " + e, e);
    }
    var found = new TreeMap<String, Setting>();
    for (String name : properties.stringPropertyNames()) {
      if (!names.contains(name)) {
        throw new IllegalArgumentException(
            file + " has " + name + ", which is no setting; ./stoa config lists all");
      }
      found.put(name, new Setting(properties.getProperty(name).strip(), file.toString()));
    }
    return found;
  }
}
