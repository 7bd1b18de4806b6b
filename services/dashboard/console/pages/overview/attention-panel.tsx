import { memo, type ReactElement } from 'react';
import type { Attention } from '../../api/now.ts';
import { Panel } from '../../parts/layout/panel.tsx';
import { ToneBadge } from '../../parts/status-badge.tsx';
import { Sentence } from '../../parts/text/sentence.tsx';
import { Age } from '../../parts/time.tsx';
import { PageLink } from '../../routing/navigation.tsx';
import classes from './overview.module.css';

/** What a person should look at, worst first. Rendered again only when it changes, not with each reading. */
export const AttentionPanel = memo(function AttentionPanel({ items }: { items: readonly Attention[] }): ReactElement {
  return (
    <Panel title="Needs attention">
      <ul className={classes['rows']} aria-label="Needs attention">
        {items.map(({ code, level, text, since, link, subject }) => (
          <li key={`${code}/${subject ?? ''}`} className={classes['attention']}>
            <ToneBadge tone={level === 'critical' ? 'bad' : 'warn'}>{level}</ToneBadge>
            <span className={classes['text']}>
              {link ? (
                <PageLink href={link}>
                  <Sentence text={text} />
                </PageLink>
              ) : (
                <Sentence text={text} />
              )}
            </span>
            {since ? (
              <span className="faint">
                <Age at={since} of="since" />
              </span>
            ) : null}
          </li>
        ))}
      </ul>
    </Panel>
  );
});
