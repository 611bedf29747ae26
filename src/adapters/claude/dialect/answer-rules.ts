import type { AnswerRule } from '../../system/screen-dialogs.ts'

/**
 * Which choice of a dialog means an answer. What switches to another mode allows far more than what was asked, so no
 * answer means that.
 */
export const claudeAnswerRules: readonly AnswerRule[] = [
  { dialog: ['permission'], verdict: 'allow', scope: 'once', option: /^Yes$/ },
  { dialog: ['permission'], verdict: 'allow', option: /^Yes, and (don['’]t ask again|always allow)/ },
  { dialog: ['permission'], verdict: 'deny', option: /^No\b/ },
  {
    dialog: ['plan'],
    verdict: 'allow',
    option: /^Yes(, manually approve edits|, and switch to default .*)?$/,
  },
  { dialog: ['plan'], verdict: 'deny', option: /^No\b/ },
]
