import type { AgentCatalog } from '#shared/agents/index.ts';
import type { Route } from '#shared/http/index.ts';
import { BatchLines } from './batches/batch-lines.ts';
import { batchRoutes } from './batches/batch-routes.ts';
import { BatchStore } from './batches/batch-store.ts';
import { runBatches } from './batches/run-batches.ts';
import { type ChatPorts, createChat } from './chat/create-chat.ts';
import { conversationRoutes } from './conversations/conversation-routes.ts';
import { ConversationStore } from './conversations/conversation-store.ts';
import { fileRoutes } from './files/file-routes.ts';
import { SentFiles } from './files/sent-files.ts';
import { modelRoutes } from './models.ts';
import { responseRoutes } from './responses/response-routes.ts';

export interface OpenaiPorts extends ChatPorts {
  readonly catalog: AgentCatalog;
}

export interface OpenaiProtocol {
  readonly routes: readonly Route[];
  /** The chore `run-batches`. */
  readonly runBatches: (signal: AbortSignal) => Promise<void>;
}

/**
 * What is served in OpenAI's protocol, to its clients: a response or a completion is a task. OpenAI's own document describes it, and
 * `docs/openai.md` says what of it is here, so that it is no part of ours.
 */
export function openOpenai(parts: OpenaiPorts): OpenaiProtocol {
  const { ledger, files, config } = parts;
  const sentFiles = new SentFiles(parts);
  const ports = {
    ...parts,
    sentFiles,
    conversations: new ConversationStore(ledger),
    batches: new BatchStore(ledger),
    batchLines: new BatchLines({ files, sentFiles, maxRequests: config.settings.openai.maxBatchRequests }),
  };
  const routes = [
    ...modelRoutes(ports),
    createChat(ports),
    ...responseRoutes(ports),
    ...conversationRoutes(ports),
    ...fileRoutes(ports),
    ...batchRoutes(ports),
  ];
  return { routes, runBatches: (signal) => runBatches(ports, signal) };
}
