import sys,re,subprocess
# innermost loops of functions matching regex: prints count and instrs
objdump,obj,rx=sys.argv[1:4]
show=len(sys.argv)>4
t=subprocess.run([objdump,'-d','--no-show-raw-insn',obj],capture_output=True,text=True).stdout
fn=None;ins=[]
def flush():
    if not fn or not re.search(rx,fn): return
    addr={a:i for i,(a,_) in enumerate(ins)}
    for i,(a,s) in enumerate(ins):
        m=re.search(r'^(b\.?\w*|cbn?z|tbn?z|j\w+|bne\.?\w*|b\w+|le)\s.*?([0-9a-f]+) <',s)
        if m and m.group(2) and int(m.group(2),16) in addr and int(m.group(2),16)<=a:
            j=addr[int(m.group(2),16)]
            if i-j<400:
                print(fn,'loop of',i-j+1)
                if show:
                    for x in ins[j:i+1]: print('   ',x[1])
for l in t.splitlines():
    m=re.match(r'^[0-9a-f]+ <(.*)>:',l)
    if m: flush(); fn=m.group(1); ins=[]; continue
    m=re.match(r'^\s*([0-9a-f]+):\s+(.*)',l)
    if m: ins.append((int(m.group(1),16),m.group(2).replace('\t',' ')))
flush()
