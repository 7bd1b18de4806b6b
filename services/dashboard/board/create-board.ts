import { createBullBoard } from '@bull-board/api';
import type { AppControllerRoute, AppViewRoute, ControllerHandlerReturnType } from '@bull-board/api/typings/app';
import { ExpressAdapter } from '@bull-board/express';
import type { RequestHandler } from 'express';
import { SharedCalls } from '#shared/http/index.ts';
import { type Ledger, listRunning, type RunningTask } from '#shared/ledger/index.ts';
import type { Queues, RetryParts } from '#shared/queue/index.ts';
import { guardRoute } from './board-actions.ts';
import { boardPage, findBoardAssets, ticketScript } from './board-page.ts';
import { TicketAdapter } from './ticket-adapter.ts';

interface BoardOptions {
  ledger: Ledger;
  queues: Queues;
  shards: number;
  /** The path of the board: `/board`. */
  basePath: string;
  /** Shows no actions, for keys without the scope `operate`. */
  isReadOnly: boolean;
}

const ICON = '/dashboard/favicon.svg';

/** Bull Board over all queues. */
export function createBoard({ ledger, queues, shards, basePath, isReadOnly }: BoardOptions): RequestHandler {
  const { directory, assets } = findBoardAssets();
  const running = new SharedCalls((shard) => listRunning(ledger, Number(shard)));
  const readRunning = async (shard: number): Promise<RunningTask[]> => (await running.join(String(shard))).answer;
  const server = new BoardServer({ parts: { ledger, queues }, assets, basePath });
  createBullBoard({
    queues: queues.all().map((each) => new TicketAdapter({ ...each, ledger, readRunning, hasShards: shards > 1, isReadOnly })),
    serverAdapter: server,
    options: {
      uiBasePath: directory,
      uiConfig: {
        boardTitle: 'Muster',
        boardLogo: { path: ICON, width: 24, height: 24 },
        favIcon: { default: ICON, alternative: ICON },
        miscLinks: [
          { text: 'Console', url: '/' },
          { text: 'API', url: '/docs' },
          { text: 'Guide', url: '/guide/' },
          { text: 'Sign out', url: '/sign-out' },
        ],
        // The link leads to another site.
        hideDocsLink: true,
        // The list of workers costs one CLIENT LIST per queue and poll.
        showWorkers: false,
        sortQueues: false,
      },
    },
  });
  return server.handler;
}

interface BoardServerOptions {
  parts: RetryParts;
  /** Scripts and styles of Bull Board's pages. */
  assets: readonly string[];
  basePath: string;
}

/** BoardServer is responsible for serving Bull Board with guarded actions, and with pages that load only files of this site. */
class BoardServer extends ExpressAdapter {
  readonly #parts: RetryParts;
  readonly #assets: readonly string[];

  constructor({ parts, assets, basePath }: BoardServerOptions) {
    super();
    this.#parts = parts;
    this.#assets = assets;
    this.setBasePath(basePath);
    this.app.disable('x-powered-by');
  }

  get handler(): RequestHandler {
    return this.app;
  }

  /** Serves the script of a ticket without the buttons that are always refused. */
  override setStaticPath(route: string, directory: string): this {
    const { name, text } = ticketScript(directory);
    this.app.get(`${route}/${name}`, (_request, response) => {
      response.type('js').send(text);
    });
    super.setStaticPath(route, directory);
    return this;
  }

  override setApiRoutes(routes: AppControllerRoute[]): this {
    super.setApiRoutes(routes.map((route) => guardRoute(this.#parts, route)));
    return this;
  }

  /** Replaces Bull Board's page, whose inline style and foreign fonts the content policy refuses. */
  override setEntryRoute(entry: AppViewRoute): this {
    this.app.get(entry.route, (_request, response) => {
      const { params } = entry.handler({ basePath: this.basePath, uiConfig: this.uiConfig });
      response
        .type('html')
        .send(boardPage({ basePath: params['basePath'] ?? '', config: params['uiConfig'] ?? '{}', assets: this.#assets }));
    });
    return this;
  }

  /** Passes errors on to the service, which knows their codes. */
  override setErrorHandler(_handler: (error: Error) => ControllerHandlerReturnType): this {
    super.setErrorHandler((error) => {
      throw error;
    });
    return this;
  }
}
