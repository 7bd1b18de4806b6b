import type { Command } from 'commander';
import { startHttpServer } from '#shared/http/start-http-server.ts';
import { createApiService } from '../../services/api/create-api-service.ts';
import { createProgram } from '../../services/cli/create-program.ts';
import { createWebhooksService } from '../../services/webhooks/create-webhooks-service.ts';
import { read } from '../deploy/repository.ts';
import { closeAfterTests } from '../support/close-after-tests.ts';
import { useParts } from '../support/use-parts.ts';

/** The OpenAPI document that `npm start` serves for the API and the hooks, as text and as it is. */
export async function serveOpenapi(): Promise<{ text: string; document: unknown }> {
  const parts = await useParts();
  const routers = [createApiService(parts), createWebhooksService(parts)].flatMap(({ router }) => router ?? []);
  const { config, log } = parts;
  const server = await startHttpServer({ routers, host: '127.0.0.1', port: 0, config, log, readiness: () => Promise.resolve([]) });
  closeAfterTests({ close: () => server.close(500) });
  const text = await (await fetch(`http://127.0.0.1:${server.port}/openapi.json`)).text();
  return { text, document: JSON.parse(text) };
}

function runNothing(): never {
  throw new Error('help runs no command');
}

/** What `--help` of a command prints: `helpOf('hooks', 'create')`. */
export function helpOf(...names: string[]): string {
  let command: Command = createProgram({ contextOf: runNothing, doctor: runNothing, run: runNothing, io: process, version: '0' });
  for (const name of names) {
    const found = command.commands.find((each) => each.name() === name);
    if (found === undefined) throw new Error(`muster has no command ${names.join(' ')}`);
    command = found;
  }
  return command.helpInformation();
}

/** The first cells of a Markdown document's tables, without their backquotes; a cell may name several things. */
export function namesInTables(path: string): string[] {
  const rows = read(path).matchAll(/^\|([^|]*)\|/gm);
  return [...rows].flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
}
