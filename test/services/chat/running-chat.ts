import express from 'express';
import { CHAT_PLATFORMS, type ChatPlatformName } from '#shared/config/chat.ts';
import type { SettingsInput } from '#shared/config/settings/settings.ts';
import type { TaskBody } from '#shared/tasks/task.ts';
import type { TaskState } from '#shared/tasks/task-state.ts';
import { listTasks } from '#shared/ledger/search/list-tasks.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { createChatService } from '../../../services/chat/create-chat-service.ts';
import { startFakeDiscord, type FakeDiscord } from '../../support/chat/fake-discord.ts';
import type { FakePlatform, PlatformRequest } from '../../support/chat/fake-platform.ts';
import { startFakeSlack } from '../../support/chat/fake-slack.ts';
import { startFakeTelegram, type FakeTelegram } from '../../support/chat/fake-telegram.ts';
import { startFakeWhatsapp } from '../../support/chat/fake-whatsapp.ts';
import { openTestParts } from '../../support/open-test-parts.ts';
import { serveApp } from '../../support/serve-app.ts';

/** A fake for every platform that there is. */
export interface FakePlatforms extends Record<ChatPlatformName, FakePlatform> {
  telegram: FakeTelegram;
  discord: FakeDiscord;
}
export type PlatformName = ChatPlatformName;
export const PLATFORM_NAMES = CHAT_PLATFORMS;

export async function startFakePlatforms(): Promise<FakePlatforms> {
  const [telegram, slack, discord, whatsapp] = await Promise.all([
    startFakeTelegram(),
    startFakeSlack(),
    startFakeDiscord(),
    startFakeWhatsapp(),
  ]);
  return { telegram, slack, discord, whatsapp };
}

/** The environment that switches all of them on. */
export function environmentOf(fakes: FakePlatforms): Record<string, string> {
  return Object.assign({}, ...Object.values(fakes).map(({ env }: FakePlatform) => env)) as Record<string, string>;
}

export interface ChatResponse {
  status: number;
  text: string;
}

export interface RunningChat {
  readonly parts: Parts;
  readonly base: string;
  /** Sends what a platform would. */
  post(platform: string, request: PlatformRequest): Promise<ChatResponse>;
  /** The tasks that there are, oldest first. */
  tasks(): Promise<{ body: TaskBody; state: TaskState }[]>;
  /** Ends the service and leaves its server, as a process that dies does. */
  stop(): Promise<void>;
  close(): Promise<void>;
}

/** The chat service behind a server of its own. */
export async function startChat(redisUrl: string, env: Record<string, string>, settings: SettingsInput = {}): Promise<RunningChat> {
  const parts = await openTestParts({ redisUrl, env, settings: { agents: { echo: { kind: 'echo' } }, ...settings } });
  const service = createChatService(parts);
  if (service.router === undefined) throw new Error('expected a router');
  await service.start();
  const served = await serveApp(express().use(service.router));
  const base = served.url;
  return {
    parts,
    base,
    post: async (platform, { body, headers }) => {
      const response = await fetch(`${base}/chat/${platform}`, { method: 'POST', headers, body });
      return { status: response.status, text: await response.text() };
    },
    tasks: async () => (await listTasks(parts.ledger, 'default', {}, { limit: 100 })).items.toReversed(),
    stop: async () => await service.stop(0),
    close: async () => {
      await service.stop(2000);
      await served.close();
      await parts.close();
    },
  };
}
