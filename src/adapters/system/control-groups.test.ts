import { expect, test } from 'vitest'
import { marksIn } from './control-groups.ts'

test('[MUS-235] the marks of a group are read from its path, and a stranger has none', () => {
  const home = Buffer.from('/home/dev/.muster').toString('base64url')
  const id = Buffer.from('ses_1').toString('base64url')
  const path = `/user.slice/muster-sessions/MUSTER_HOME=${home}/MUSTER_SESSION=${id}`
  expect(marksIn(`9:name=systemd:/\n0::${path}\n`)).toEqual({
    MUSTER_HOME: '/home/dev/.muster',
    MUSTER_SESSION: 'ses_1',
  })
  expect(marksIn(`0::${path}/of-the-program`)).toMatchObject({ MUSTER_SESSION: 'ses_1' })
  for (const other of ['', '0::/', '0::/a/muster-sessions', `5:memory:${path}`, '0::/muster-sessions/x'])
    expect(marksIn(other), other).toEqual({})
})
