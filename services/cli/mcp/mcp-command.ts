import type { Command } from 'commander';
import type { CommandContext, ContextOf } from '../command-context.ts';
import { McpBridge } from './mcp-bridge.ts';
import { readMessages } from './read-messages.ts';

/** More than the fleet takes of one message. */
const MAX_MESSAGE_BYTES = 16_777_216;

export function addMcpCommand(program: Command, contextOf: ContextOf): void {
  program
    .command('mcp')
    .description('be an MCP server on stdin and stdout for a host that starts one: the tools are those of the fleet')
    .action((_options: object, command: Command) => runMcp(contextOf(command)));
}

/** Hands messages on until the host closes standard input, and the last of them are answered. */
async function runMcp(context: CommandContext): Promise<void> {
  // A host would see a failure at the first message only.
  context.connect();
  const bridge = new McpBridge({ connect: () => context.connect(), write: (text) => context.terminal.message(text) });
  for await (const text of readMessages(context.input, MAX_MESSAGE_BYTES)) bridge.handle(text);
  await bridge.idle();
}
