import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { DefaultTheme } from 'vitepress';
import { GENERATED } from './reference/generated-pages.ts';
import { ROOT } from './sources.ts';

interface Group {
  readonly text: string;
  readonly pages: Readonly<Record<string, string>>;
}

/** The pages by their text in the navigation. What is not among them stands under More, so that every page can be found. */
const GROUPS: readonly Group[] = [
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
      openai: 'OpenAI’s protocol',
      mcp: 'As tools (MCP)',
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
      recipes: 'Short recipes',
      'from-bullmq': 'From BullMQ',
      'with-n8n': 'With n8n',
      'with-claude-code': 'With Claude Code',
    },
  },
  {
    text: 'Operate',
    pages: {
      deploy: 'Deploy',
      upgrades: 'Upgrades',
      'fail-over': 'Fail-over drills',
      configuration: 'Configuration',
      'sign-in': 'Sign-in',
      fleet: 'The fleet',
      traces: 'Traces',
      monitoring: 'Boards and rules',
      runbooks: 'Runbooks',
      backup: 'Backups',
      privacy: 'Data of people',
      troubleshooting: 'Troubleshooting',
      measure: 'How fast it is',
    },
  },
  {
    text: 'Reference',
    pages: {
      api: 'The API',
      'reference/api-tasks': 'API: Tasks and files',
      'reference/api-sessions': 'API: Sessions and chat',
      'reference/api-schedules': 'API: Schedules and runs',
      'reference/api-hooks': 'API: Hooks',
      'reference/api-deliveries': 'API: Deliveries',
      'reference/api-agents': 'API: Agents and money',
      'reference/api-fleet': 'API: The fleet',
      'reference/api-tenants': 'API: Tenants and people',
      'reference/api-records': 'API: Records',
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

const WRITTEN = readdirSync(join(ROOT, 'docs'))
  .filter((file) => /^[\w-]+\.md$/.test(file) && file !== 'index.md')
  .map((file) => file.slice(0, -'.md'.length));
const THERE = new Set([...WRITTEN, ...Object.keys(GENERATED).map((name) => `reference/${name}`)]);

/** The groups with the pages that there are: a page's title by its path without suffix. */
export const NAVIGATION: readonly Group[] = [...GROUPS, { text: 'More', pages: unlisted() }]
  .map(({ text, pages }) => ({ text, pages: Object.fromEntries(Object.entries(pages).filter(([page]) => THERE.has(page))) }))
  .filter(({ pages }) => Object.keys(pages).length > 0);

function unlisted(): Record<string, string> {
  const listed = new Set(GROUPS.flatMap(({ pages }) => Object.keys(pages)));
  return Object.fromEntries([...THERE].filter((page) => !listed.has(page)).map((page) => [page, page]));
}

/** As VitePress takes it. */
export function sidebar(): DefaultTheme.SidebarItem[] {
  return NAVIGATION.map(({ text, pages }) => ({
    text,
    items: Object.entries(pages).map(([page, title]) => ({ text: title, link: `/${page}` })),
  }));
}
