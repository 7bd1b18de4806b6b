import { createBullBoard } from '@bull-board/api';
import type { RequestHandler } from 'express';
import type { Ledger } from '#shared/ledger/index.ts';
import type { Queues } from '#shared/queue/index.ts';
import { BoardServer } from './board-server.ts';
import { findBoardAssets } from './board-page.ts';
import { TicketAdapter } from './ticket-adapter.ts';

export interface BoardOptions {
  ledger: Ledger;
  queues: Queues;
  shards: number;
  /** Where it is mounted: `/board`. */
  basePath: string;
  /** For people who may only look: no actions are shown. */
  isReadOnly: boolean;
}

const ICON = '/dashboard/favicon.svg';

/** Bull Board over all queues. */
export function createBoard({ ledger, queues, shards, basePath, isReadOnly }: BoardOptions): RequestHandler {
  const { directory, assets } = findBoardAssets();
  const server = new BoardServer({ parts: { ledger, queues }, assets, basePath });
  createBullBoard({
    queues: queues.all().map((each) => new TicketAdapter({ ...each, hasShards: shards > 1, isReadOnly })),
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
          { text: 'Sign out', url: '/sign-out' },
        ],
        // Leads to another site.
        hideDocsLink: true,
        // One CLIENT LIST per queue and poll, on a Redis that has better things to do.
        showWorkers: false,
        sortQueues: false,
      },
    },
  });
  return server.handler;
}
