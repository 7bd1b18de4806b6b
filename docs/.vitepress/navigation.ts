import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { DefaultTheme } from 'vitepress';
import { ROOT, sourceOf } from './sources.ts';

interface Group {
  readonly text: string;
  readonly pages: Readonly<Record<string, string>>;
}

/** Every page of the site, by its text in the navigation. A test compares it with the files. */
export const NAVIGATION: readonly Group[] = [
  {
    text: 'Begin',
    pages: {
      start: 'Start in five minutes',
      'your-own-project': 'Your own project',
      concepts: 'How it works',
      comparison: 'Compared with others',
    },
  },
  {
    text: 'Guides',
    pages: {
      agents: 'Agents',
      client: 'Typed client',
      python: 'From Python',
      sessions: 'Sessions',
      chat: 'Chat platforms',
      webhooks: 'Webhooks',
      schedules: 'Schedules',
      files: 'Files',
      deliveries: 'Deliveries and notifications',
      daemons: 'Machines of your own',
      money: 'Money',
      limits: 'Limits',
    },
  },
  {
    text: 'Recipes',
    pages: {
      recipes: 'Recipes',
      'from-bullmq': 'From BullMQ',
      'with-n8n': 'With n8n',
      'with-claude-code': 'With Claude Code',
    },
  },
  {
    text: 'Operate',
    pages: {
      deploy: 'Deploy',
      configuration: 'Configuration',
      'sign-in': 'Sign-in',
      fleet: 'The fleet',
      troubleshooting: 'Troubleshooting',
      measure: 'How fast it is',
    },
  },
  {
    text: 'Reference',
    pages: {
      api: 'API',
      settings: 'Settings',
      package: 'The npm package',
      commands: 'Commands',
      errors: 'Errors',
      metrics: 'Metrics',
      'reference/glossary': 'Glossary',
      'reference/changelog': 'Changes',
    },
  },
  {
    text: 'Inside',
    pages: {
      architecture: 'Architecture',
      'reference/service-api': 'api',
      'reference/service-chat': 'chat',
      'reference/service-cli': 'cli',
      'reference/service-dashboard': 'dashboard',
      'reference/service-hub': 'hub',
      'reference/service-local': 'local',
      'reference/service-scheduler': 'scheduler',
      'reference/service-webhooks': 'webhooks',
      'reference/service-worker': 'worker',
    },
  },
];

/** The navigation of VitePress, with the pages that there are. */
export function sidebar(): DefaultTheme.SidebarItem[] {
  return NAVIGATION.map(({ text, pages }) => ({
    text,
    items: Object.entries(pages)
      .filter(([page]) => existsSync(join(ROOT, sourceOf(`${page}.md`))))
      .map(([page, title]) => ({ text: title, link: `/${page}` })),
  }));
}
