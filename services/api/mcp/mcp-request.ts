import type { AgentCatalog } from '#shared/agents/index.ts';
import type { Environment, Settings } from '#shared/config/index.ts';
import type { EventFeed } from '#shared/events/index.ts';
import type { MusterError } from '#shared/errors/index.ts';
import { type Answer, type Call, type Route, type SentParts, toMusterError } from '#shared/http/index.ts';
import type { Ledger } from '#shared/ledger/index.ts';
import type { Queues } from '#shared/queue/index.ts';

export interface McpPorts {
  readonly ledger: Ledger;
  readonly queues: Queues;
  readonly events: EventFeed;
  readonly catalog: AgentCatalog;
  readonly config: { readonly settings: Settings; readonly env: Pick<Environment, 'MUSTER_PUBLIC_URL'> };
}

/** The routes of the API that messages of MCP stand for. */
const OPERATIONS = [
  'submitTask',
  'getTask',
  'explainTask',
  'cancelTask',
  'listTasks',
  'createSchedule',
  'sendMessage',
  'answerQuestion',
  'listSessions',
  'getSession',
  'getTranscript',
] as const;
export type Operation = (typeof OPERATIONS)[number];

export type Routes = Readonly<Record<Operation, Route>>;

/** Finds them among all routes, so that there is one way to do each thing. */
export function routesOf(all: readonly Route[]): Routes {
  const found = OPERATIONS.map((operation) => {
    const route = all.find(({ operationId }) => operationId === operation);
    if (route === undefined) throw new Error(`There is no route ${operation} for MCP`);
    return [operation, route] as const;
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each of the names is there
  return Object.fromEntries(found) as Record<Operation, Route>;
}

/** McpRequest is responsible for what the handlers of one message need to know of who sent it. */
export class McpRequest {
  readonly call: Call;
  readonly ports: McpPorts;
  readonly routes: Routes;

  constructor(call: Call, ports: McpPorts, routes: Routes) {
    this.call = call;
    this.ports = ports;
    this.routes = routes;
  }

  get tenant(): string {
    return this.call.tenant;
  }

  /** Does what a request to that endpoint of the API does. Errors: those of the route. */
  forward(operation: Operation, sent: SentParts): Promise<Answer> {
    return this.call.forward(this.routes[operation], sent);
  }

  /** What the caller may see of an error; the log has the rest of one that nobody expected. */
  explain(error: unknown): MusterError {
    const known = toMusterError(error);
    if (known.code === 'internal.error') this.call.log.error({ event: 'mcp.failed', err: error }, 'A message of MCP failed');
    return known;
  }
}
