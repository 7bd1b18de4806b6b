import { Headers } from 'undici';
import type { McpServer } from '../../config/index.ts';
import type { AgentRun, AgentRunnersOptions } from '../agent-kind.ts';
import { commandOptions } from '../command/command.ts';
import type { CommandRun } from '../command/command-run.ts';
import { openServingProgram } from './serving-program.ts';
import { createGuardedFetch, type GuardedFetch } from '../guarded-fetch.ts';
import { McpClients } from './mcp-clients.ts';
import { StdioTransport } from './stdio-transport.ts';

/** What the program of a server needs of the run that it serves. */
type McpRun = Pick<AgentRun, 'task' | 'diagnose' | 'inputArrived' | 'context'>;

/** Makes the connections of one run, each opened when the run first needs it. */
export type OpenMcp = (run: McpRun, signal: AbortSignal) => McpClients;

/** The opener of one process. It opens nothing until a run uses a server. */
export function mcpOpener(options: AgentRunnersOptions): OpenMcp {
  const { allowNetworks, maxResponseBytes, mcp = {} } = options;
  const fetch = createGuardedFetch({ allowNetworks, maxResponseBytes });
  const optionsFor = commandOptions(options);
  return (run, signal) =>
    new McpClients({
      servers: mcp,
      // Each request names the span of the tool that makes it.
      fetch: (url, init) => fetch(url, withTrace(init, run.context.trace.traceparent)),
      signal,
      openProgram: async (program) => {
        const served = servedRun(run, program);
        return new StdioTransport(await openServingProgram(served, optionsFor(served.definition)));
      },
    });
}

type Init = Parameters<GuardedFetch>[1];

function withTrace(init: Init, traceparent: string): Init {
  const headers = new Headers(init.headers);
  headers.set('traceparent', traceparent);
  return { ...init, headers };
}

/** The program gets no prompt, files or checkpoint: they are its agent's. */
function servedRun(
  { task, diagnose, inputArrived, context }: McpRun,
  { command, env, passEnv }: Extract<McpServer, { command: string[] }>,
): CommandRun {
  const definition = { kind: 'command' as const, command, takesInput: true, ...(env && { env }), ...(passEnv && { passEnv }) };
  return { task, definition, context, diagnose, inputArrived };
}
