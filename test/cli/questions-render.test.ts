import { expect, test } from 'vitest'
import { renderApprovals } from '../../src/cli/render/approvals.ts'
import type { ApprovalView } from '../../src/contract/session-views.ts'
import { ago, now } from './session-data.ts'

const asked: ApprovalView = {
  approval_id: 'apr_1',
  session_id: 'def456',
  name: 'engineer-task1043',
  subject: 'question',
  action: 'Which colour?\nWhich sizes?',
  reason: null,
  scope: [
    {
      question: 'Which colour?',
      header: 'Colour',
      options: [{ label: 'Red', description: 'as blood' }, { label: 'Blue' }],
      isMany: false,
    },
    {
      question: 'Which sizes?',
      header: 'The sizes',
      options: [{ label: 'S' }, { label: 'M' }],
      isMany: true,
    },
  ],
  diff: null,
  risk: null,
  options: [],
  requested_at: ago(4),
  expires_at: null,
  decision: null,
  decided_by: null,
  answer: null,
}

test('[MUS-333] every question is shown with its choices, and how all of them are answered at once', () => {
  expect(renderApprovals({ approvals: [asked] }, { width: 80, now, color: false })).toBe(
    [
      'engineer-task1043 (def456) | question | waits 4min',
      '    Colour: Which colour? (choose one)',
      '      - Red: as blood',
      '      - Blue',
      '    The sizes: Which sizes? (choose one or several)',
      '      - S',
      '      - M',
      '    sm approve apr_1 --answer Colour=… --answer "The sizes=…" --answer "The sizes=…"',
    ].join('\n'),
  )
})

test('[MUS-384] what has choices of its own shows each with its command, and no bare yes', () => {
  const labels = ['one more round', 'stop']
  const options = labels.map((label) => ({ label, description: `means ${label}` }))
  const scope = [{ question: 'No rounds are left.', options, isMany: false }]
  const choice: ApprovalView = { ...asked, subject: 'plan', options: labels, scope }
  const shown = renderApprovals({ approvals: [choice] }, { width: 80, now, color: false })
  expect(shown).toContain('      - one more round: means one more round')
  expect(shown).toContain('    sm approve apr_1 --answer "one more round"  means one more round')
  expect(shown).not.toMatch(/sm approve apr_1(?! --answer)/)
})
