import { z } from 'zod';
import { protocolSchema } from '#shared/daemons/index.ts';
import { MusterError } from '#shared/errors/index.ts';
import { type Route, route } from '#shared/http/index.ts';

const schemaView = z
  .looseObject({
    protocol: z.int().meta({ description: 'What `daemon.hello` states.' }),
    closeCodes: z.record(z.string(), z.int()).meta({ description: 'Why the hub closes a connection.' }),
    daemonToHub: z.record(z.string(), z.unknown()).meta({ description: 'JSON Schema of each message, by type.' }),
    hubToDaemon: z.record(z.string(), z.unknown()).meta({ description: 'JSON Schema of each message, by type.' }),
  })
  .meta({ id: 'HubSchema' });

/** The messages of the hub, for those who write a daemon in another language. */
export function schemaRoute(): Route {
  const body = protocolSchema();
  return route({
    method: 'get',
    path: '/hub/schema.json',
    operationId: 'getHubSchema',
    summary: 'Read the schema of the messages between daemons and the hub',
    tag: 'daemons',
    scope: 'none',
    responses: { 200: schemaView },
    handle: () => ({ status: 200, body }),
  });
}

/** What somebody gets who opens the address of the hub without a WebSocket. */
export function plainRequestRoute(): Route {
  return route({
    method: 'get',
    path: '/hub',
    operationId: 'connectDaemon',
    summary: 'Connect a daemon, by WebSocket',
    description: 'Without `Upgrade: websocket` the answer is 426. `npx muster daemon` and `muster/daemon` connect here.',
    tag: 'daemons',
    scope: 'none',
    responses: {},
    handle: () => {
      throw new MusterError(
        'request.upgrade-required',
        'Daemons connect here by WebSocket: run `npx muster daemon`, or see docs/daemons.md',
      );
    },
  });
}
