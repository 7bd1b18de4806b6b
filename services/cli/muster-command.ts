import { Command, type ErrorOptions, type Option } from 'commander';

/**
 * A command whose action gets each option that was given to it, or is told of none. Its help is a result, wherever it is printed: on stdout, and
 * with exit code 0, also for a name that only stands for its subcommands. What is wrong with the arguments goes to stderr, with the name of the
 * command whose help says more.
 */
export class MusterCommand extends Command {
  override createCommand(name?: string): Command {
    return new MusterCommand(name);
  }

  override action(run: Parameters<Command['action']>[0]): this {
    return super.action((...given: unknown[]) => {
      given[this.registeredArguments.length] = this.#readOptions();
      return run.apply(this, given);
    });
  }

  override help(): never {
    super.help({ error: false });
  }

  override error(message: string, options?: ErrorOptions): never {
    const [given] = this.args;
    // Commander counts arguments where a subcommand was meant.
    const isUnknown = options?.code === 'commander.excessArguments' && this.commands.length > 0 && given !== undefined;
    const text = isUnknown ? `error: unknown command '${given}'` : message;
    const path = pathOf(this);
    this.showHelpAfterError(path === 'muster' ? '(npx muster --help lists the commands)' : `(npx ${path} --help explains it)`);
    super.error(text, options);
  }

  /**
   * The options of this command. Commander gives an option to the first parent that knows it, wherever it stands, and leaves the command its
   * own default. An option that only the parent has is refused, because the command would ignore it.
   */
  #readOptions(): Record<string, unknown> {
    const options: Record<string, unknown> = { ...this.opts() };
    for (const { name, flag, value } of groupsOf(this).flatMap(givenOptions)) {
      const isOwn = this.options.some((own) => own.attributeName() === name);
      if (!isOwn) this.error(`error: unknown option '${flag}'`, { code: 'commander.unknownOption' });
      options[name] = value;
    }
    return options;
  }
}

/** The options that each command takes: those of the program, but for `--version`, which is a command of its own. */
export function globalOptionsOf(command: Command): Option[] {
  const { parent } = command;
  if (parent === null) return [];
  return parent.parent === null ? parent.options.filter(({ long }) => long !== '--version') : globalOptionsOf(parent);
}

/** The commands that it is a subcommand of, without the program, whose options say which server is meant. */
function groupsOf({ parent }: Command): Command[] {
  return parent === null || parent.parent === null ? [] : [...groupsOf(parent), parent];
}

function givenOptions(command: Command): { name: string; flag: string; value: unknown }[] {
  return command.options.flatMap((option) => {
    const name = option.attributeName();
    const isGiven = command.getOptionValueSource(name) === 'cli';
    return isGiven ? [{ name, flag: option.long ?? option.flags, value: command.getOptionValue(name) }] : [];
  });
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
