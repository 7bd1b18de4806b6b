import { Command, type ErrorOptions } from 'commander';

/**
 * A command whose help is a result, wherever it is printed: on stdout, and with exit code 0, also for a name that only stands for its
 * subcommands. What is wrong with the arguments goes to stderr, with the name of the command whose help says more.
 */
export class HelpCommand extends Command {
  override createCommand(name?: string): Command {
    return new HelpCommand(name);
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
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
