import { memo, type ReactElement } from 'react';
import type { Attention } from '#shared/client/openapi.gen.ts';
import { answerOf, api, byId } from '../../api/api.ts';
import { useIsInstallation } from '../../api/person.ts';
import { PageLink } from '../../routing/navigation.tsx';
import { ActionButton } from '../actions/action-button.tsx';
import { Panel } from '../layout/panel.tsx';
import { ToneBadge } from '../status-badge.tsx';
import { Sentence } from '../text/sentence.tsx';
import { Age } from '../time.tsx';
import classes from './attention.module.css';

interface AttentionPanelProps {
  items: readonly Attention[];
  /** The query that read them. */
  readBy: string;
}

/** What a person should look at, worst first, until somebody acknowledges it. Rendered again only when it changes, not with each reading. */
export const AttentionPanel = memo(function AttentionPanel({ items, readBy }: AttentionPanelProps): ReactElement {
  const isInstallation = useIsInstallation();
  return (
    <Panel title="Needs attention" actions={isInstallation ? <PageLink href="/alerts">Who is alerted</PageLink> : null}>
      <ul className={classes['items']} aria-label="Needs attention">
        {items.map((item) => (
          <Item key={`${item.scope}/${item.id}`} item={item} readBy={readBy} />
        ))}
      </ul>
    </Panel>
  );
});

function Item({ item: { id, level, text, helps, since, link }, readBy }: { item: Attention; readBy: string }): ReactElement {
  const sentence = <Sentence text={text} />;
  return (
    <li className={classes['item']}>
      <ToneBadge tone={level === 'critical' ? 'bad' : 'warn'}>{level}</ToneBadge>
      <div className={classes['text']}>
        {link ? <PageLink href={link}>{sentence}</PageLink> : sentence}
        <p className="faint">
          <Sentence text={helps} />
        </p>
      </div>
      <span className={`faint ${classes['since']}`}>{since ? <Age at={since} of="since" /> : null}</span>
      <ActionButton
        needs="operate"
        text="Acknowledge"
        size="compact-xs"
        run={() => answerOf(api.POST('/v1/attention/{id}/acknowledge', byId(id)))}
        done="It is listed again only when it becomes worse"
        refresh={[[readBy]]}
      />
    </li>
  );
}
