function __gatehouse_should_offer_completions_for_flags_or_options -a expected_commands
    set -l non_repeating_flags_or_options $argv[2..]
    set -l non_repeating_flags_or_options_absent 0
    set -l positional_index 0
    set -l commands
    __gatehouse_parse_tokens
    test "$commands" = "$expected_commands"; and return $non_repeating_flags_or_options_absent
end

function __gatehouse_should_offer_completions_for_positional -a expected_commands positional_index_comparison expected_positional_index
    set -l non_repeating_flags_or_options
    set -l non_repeating_flags_or_options_absent 0
    set -l positional_index 0
    set -l commands
    __gatehouse_parse_tokens
    test "$commands" = "$expected_commands" -a \( "$positional_index" "$positional_index_comparison" "$expected_positional_index" \)
end

function __gatehouse_parse_tokens -S
    set -l unparsed_tokens (__gatehouse_tokens -pc)
    switch $unparsed_tokens[1]
    case 'gatehouse'
        __gatehouse_parse_subcommand 0 'version' 'h/help'
        switch $unparsed_tokens[1]
        case 'init'
            __gatehouse_parse_subcommand 0 'protect=' 'users=' 'property=+' 'password-file=' 'proxy=' 'host=+' 'application=+' 'sign-in-host=' 'add' 'folder=' 'state=' 'user=' 'defaults' 'password-stdin' 'version' 'h/help'
        case 'serve'
            __gatehouse_parse_subcommand 0 'config=' 'D=+' 'version' 'h/help'
        case 'check'
            __gatehouse_parse_subcommand 0 'config=' 'D=+' 'connect' 'version' 'h/help'
        case 'health'
            __gatehouse_parse_subcommand 0 'config=' 'D=+' 'address=' 'timeout=' 'version' 'h/help'
        case 'explain'
            __gatehouse_parse_subcommand 2 'config=' 'D=+' 'realm=' 'user=' 'groups=' 'from=' 'version' 'h/help'
        case 'prove'
            __gatehouse_parse_subcommand -r 1 'config=' 'D=+' 'pam-dir=' 'pam-conf=' 'login-conf=' 'dot' 'svg' 'diff' 'json' 'sarif' 'accept=' 'version' 'h/help'
        case 'user'
            __gatehouse_parse_subcommand 0 'version' 'h/help'
            switch $unparsed_tokens[1]
            case 'list'
                __gatehouse_parse_subcommand 0 'config=' 'D=+' 'realm=' 'json' 'version' 'h/help'
            case 'show'
                __gatehouse_parse_subcommand 1 'config=' 'D=+' 'realm=' 'json' 'version' 'h/help'
            case 'add'
                __gatehouse_parse_subcommand 1 'config=' 'D=+' 'realm=' 'password-stdin' 'group=+' 'name=' 'mail=' 'no-password' 'disabled' 'expires=' 'must-change' 'version' 'h/help'
            case 'set-password'
                __gatehouse_parse_subcommand 1 'config=' 'D=+' 'realm=' 'password-stdin' 'must-change' 'version' 'h/help'
            case 'remove'
                __gatehouse_parse_subcommand 1 'config=' 'D=+' 'realm=' 'version' 'h/help'
            case 'groups'
                __gatehouse_parse_subcommand 1 'config=' 'D=+' 'realm=' 'add=+' 'remove=+' 'version' 'h/help'
            case 'attributes'
                __gatehouse_parse_subcommand 1 'config=' 'D=+' 'realm=' 'name=' 'mail=' 'version' 'h/help'
            case 'enable'
                __gatehouse_parse_subcommand 1 'config=' 'D=+' 'realm=' 'version' 'h/help'
            case 'disable'
                __gatehouse_parse_subcommand 1 'config=' 'D=+' 'realm=' 'version' 'h/help'
            case 'unlock'
                __gatehouse_parse_subcommand 1 'config=' 'D=+' 'realm=' 'version' 'h/help'
            case 'expire'
                __gatehouse_parse_subcommand 2 'config=' 'D=+' 'realm=' 'yes' 'version' 'h/help'
            case 'import'
                __gatehouse_parse_subcommand 1 'config=' 'D=+' 'realm=' 'group-file=' 'format=' 'algorithm=+' 'skip-broken' 'version' 'h/help'
            end
        case 'realm'
            __gatehouse_parse_subcommand 0 'version' 'h/help'
            switch $unparsed_tokens[1]
            case 'test'
                __gatehouse_parse_subcommand 2 'config=' 'D=+' 'version' 'h/help'
            end
        case 'hash'
            __gatehouse_parse_subcommand 0 'config=' 'D=+' 'password-stdin' 'calibrate' 'time=' 'memory=' 'version' 'h/help'
        case 'lockouts'
            __gatehouse_parse_subcommand 0 'version' 'h/help'
            switch $unparsed_tokens[1]
            case 'list'
                __gatehouse_parse_subcommand 0 'config=' 'D=+' 'all' 'version' 'h/help'
            case 'clear'
                __gatehouse_parse_subcommand 0 'config=' 'D=+' 'realm=' 'user=' 'source=' 'all' 'version' 'h/help'
            end
        case 'sessions'
            __gatehouse_parse_subcommand 0 'version' 'h/help'
            switch $unparsed_tokens[1]
            case 'list'
                __gatehouse_parse_subcommand 0 'config=' 'D=+' 'realm=' 'user=' 'json' 'version' 'h/help'
            case 'end'
                __gatehouse_parse_subcommand 1 'config=' 'D=+' 'realm=' 'user=' 'all' 'version' 'h/help'
            case 'message'
                __gatehouse_parse_subcommand -r 1 'config=' 'D=+' 'realm=' 'user=' 'all' 'version' 'h/help'
            end
        case 'message'
            __gatehouse_parse_subcommand 0 'version' 'h/help'
            switch $unparsed_tokens[1]
            case 'set'
                __gatehouse_parse_subcommand 1 'config=' 'D=+' 'until=' 'version' 'h/help'
            case 'show'
                __gatehouse_parse_subcommand 0 'config=' 'D=+' 'version' 'h/help'
            case 'clear'
                __gatehouse_parse_subcommand 0 'config=' 'D=+' 'version' 'h/help'
            end
        case 'log'
            __gatehouse_parse_subcommand -r 1 'config=' 'D=+' 'user=' 'address=' 'since=' 'until=' 'at=' 'failed' 'why' 'summary' 'json' 'version' 'h/help'
        case 'translation'
            __gatehouse_parse_subcommand 1 'version' 'h/help'
        case 'help'
            __gatehouse_parse_subcommand -r 1 'version'
        end
    end
end

function __gatehouse_tokens
    if test (string split -m 1 -f 1 -- . "$FISH_VERSION") -gt 3
        commandline --tokens-raw $argv
    else
        commandline -o $argv
    end
end

function __gatehouse_parse_subcommand -S -a positional_count
    argparse -s r -- $argv
    set -l option_specs $argv[2..]
    set -l is_repeating_positional $_flag_r
    set -el _flag_r
    set -a commands $unparsed_tokens[1]
    set positional_index 0
    while true
        set -e unparsed_tokens[1]
        argparse -sn "$commands" $option_specs -- $unparsed_tokens 2> /dev/null
        set unparsed_tokens $argv
        set positional_index (math $positional_index + 1)
        for non_repeating_flag_or_option in $non_repeating_flags_or_options
            if set -ql "_flag_$(string replace -a - _ -- $non_repeating_flag_or_option)"
                set non_repeating_flags_or_options_absent 1
                break
            end
        end
        test (count $unparsed_tokens) -eq 0 -o \( -z "$is_repeating_positional" -a "$positional_index" -gt "$positional_count" \) && break
    end
end

function __gatehouse_complete_directories
    set -l token (commandline -t)
    string match -- '*/' $token
    set -l subdirs $token*/
    printf %s\n $subdirs
end

function __gatehouse_custom_completion
    set -x SAP_SHELL fish
    set -x SAP_SHELL_VERSION $FISH_VERSION
    set -l tokens (__gatehouse_tokens -p)
    if test -z "$(__gatehouse_tokens -t)"
        set -l index (count (__gatehouse_tokens -pc))
        set tokens $tokens[..$index] \'\' $tokens[(math $index + 1)..]
    end
    command $tokens[1] $argv $tokens
end

complete -c 'gatehouse' -f
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse" version' -l 'version' -d 'Show the version.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_positional "gatehouse" -eq 1' -fa 'init' -d 'Make a configuration, the files of a proxy, and a first user.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_positional "gatehouse" -eq 1' -fa 'serve' -d 'Serve until SIGTERM or SIGINT.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_positional "gatehouse" -eq 1' -fa 'check' -d 'Check the configuration: print its errors, or a summary of it.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_positional "gatehouse" -eq 1' -fa 'health' -d 'Check that the server of the configuration answers requests.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_positional "gatehouse" -eq 1' -fa 'explain' -d 'Show whether a request would be allowed, and which rule decides.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_positional "gatehouse" -eq 1' -fa 'prove' -d 'Show what stacks and rules grant, for all answers of their modules, or compare two configurations.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_positional "gatehouse" -eq 1' -fa 'user' -d 'Show the users of a realm, and manage them if the realm allows changes.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_positional "gatehouse" -eq 1' -fa 'realm' -d 'Test the servers of a realm.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_positional "gatehouse" -eq 1' -fa 'hash' -d 'Hash a password with the settings of the configuration, or find hash parameters for this machine.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_positional "gatehouse" -eq 1' -fa 'lockouts' -d 'List and clear locks of accounts and addresses.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_positional "gatehouse" -eq 1' -fa 'sessions' -d 'List and end sessions, or send a message to their users.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_positional "gatehouse" -eq 1' -fa 'message' -d 'Show a message on the sign-in pages and the account page until a time.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_positional "gatehouse" -eq 1' -fa 'log' -d 'Show requests, refused sign-ins and sessions in a log of the server, with the reasons of refusals.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_positional "gatehouse" -eq 1' -fa 'translation' -d 'Print the texts of the pages as a translation file.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_positional "gatehouse" -eq 1' -fa 'help' -d 'Show subcommand help information.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse init" protect' -l 'protect' -d 'What is protected. Default: /' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse init" users' -l 'users' -d 'The users: new, for users in a database of Gatehouse; pam, for those of this system; ldap or sql, for those of a directory or a database; or the path of an htpasswd file or a key file of GlassFish. Default: new.' -rF
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse init"' -l 'property' -d 'A property of the realm, if the users are ldap or sql: directory=ldaps://ldap.example.org' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse init" password-file' -l 'password-file' -d 'The file with the password of the account for the directory or the database.' -rF
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse init" proxy' -l 'proxy' -d 'The proxy: none, nginx, caddy or haproxy. Default: none.' -rfka 'none nginx caddy haproxy'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse init"' -l 'host' -d 'The host name of an application behind the proxy; may be repeated. Default: app.example.com.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse init"' -l 'application' -d 'The address of the application, one for each --host, in the same order. Default: 127.0.0.1:3000.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse init" sign-in-host' -l 'sign-in-host' -d 'The host at which users sign in once for all applications. Default: each has its own sign-in page.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse init" add' -l 'add' -d 'Add applications to realms.conf of the folder. For nginx and Caddy, a file for each is made; for HAProxy, only commands are printed.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse init" folder' -l 'folder' -d 'The folder for the files. Default: the current folder.' -rfa '(__gatehouse_complete_directories)'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse init" state' -l 'state' -d 'The state folder of the server, if it is not var in the folder for the files: /var/lib/gatehouse for the service of systemd. It is not changed.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse init" user' -l 'user' -d 'The name of the first user, if the users are new; of a user to look up, if they are ldap or sql.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse init" defaults' -l 'defaults' -d 'Ask for nothing but passwords.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse init" password-stdin' -l 'password-stdin' -d 'Read the new password from the first line of standard input.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse init" version' -l 'version' -d 'Show the version.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse init" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse serve" config' -l 'config' -d 'The configuration. Default: realms.conf in the current folder, or /etc/gatehouse/realms.conf if it is missing.' -rF
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse serve"' -s 'D' -d 'The value of ${name} in the configuration.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse serve" version' -l 'version' -d 'Show the version.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse serve" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse check" config' -l 'config' -d 'The configuration. Default: realms.conf in the current folder, or /etc/gatehouse/realms.conf if it is missing.' -rF
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse check"' -s 'D' -d 'The value of ${name} in the configuration.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse check" connect' -l 'connect' -d 'Also test the servers of the realms, as `gatehouse realm test` does, and look the groups of the rules up there; exit status 4 if a server fails.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse check" version' -l 'version' -d 'Show the version.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse check" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse health" config' -l 'config' -d 'The configuration. Default: realms.conf in the current folder, or /etc/gatehouse/realms.conf if it is missing.' -rF
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse health"' -s 'D' -d 'The value of ${name} in the configuration.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse health" address' -l 'address' -d 'The address of the server. Default: that of the configuration.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse health" timeout' -l 'timeout' -d 'The time to wait, in seconds.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse health" version' -l 'version' -d 'Show the version.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse health" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse explain" config' -l 'config' -d 'The configuration. Default: realms.conf in the current folder, or /etc/gatehouse/realms.conf if it is missing.' -rF
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse explain"' -s 'D' -d 'The value of ${name} in the configuration.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse explain" realm' -l 'realm' -d 'The realm. Default: the configuration\'s default-realm, or its only realm.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_positional "gatehouse explain" -eq 1' -fka 'GET HEAD POST PUT PATCH DELETE OPTIONS'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse explain" user' -l 'user' -d 'The user who makes the request. Default: not signed in.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse explain" groups' -l 'groups' -d 'The groups of the user; the realm may add groups. Default: the groups that the realm returns.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse explain" from' -l 'from' -d 'The address of the client.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse explain" version' -l 'version' -d 'Show the version.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse explain" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse prove" config' -l 'config' -d 'The configuration. Default: realms.conf in the current folder, or /etc/gatehouse/realms.conf if it is missing.' -rF
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse prove"' -s 'D' -d 'The value of ${name} in the configuration.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse prove" pam-dir' -l 'pam-dir' -d 'Prove services of a pam.d folder instead, by name; needs no realms.conf.' -rfa '(__gatehouse_complete_directories)'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse prove" pam-conf' -l 'pam-conf' -d 'Prove services of a pam.conf instead, by name.' -rF
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse prove" login-conf' -l 'login-conf' -d 'Prove the entries of a login.conf instead; needs no realms.conf.' -rF
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse prove" dot' -l 'dot' -d 'Print each stack as a graph in the DOT language.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse prove" svg' -l 'svg' -d 'Print the stacks as one picture in SVG.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse prove" diff' -l 'diff' -d 'Compare two configurations by what they admit.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse prove" json' -l 'json' -d 'Print JSON.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse prove" sarif' -l 'sarif' -d 'Print the findings as SARIF 2.1.0, for code scanning.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse prove" accept' -l 'accept' -d 'A file with known findings, one line each, which are not reported.' -rF
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse prove" version' -l 'version' -d 'Show the version.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse prove" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user" version' -l 'version' -d 'Show the version.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_positional "gatehouse user" -eq 1' -fa 'list' -d 'List all users.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_positional "gatehouse user" -eq 1' -fa 'show' -d 'Show a user.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_positional "gatehouse user" -eq 1' -fa 'add' -d 'Add a user; prompts for the password.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_positional "gatehouse user" -eq 1' -fa 'set-password' -d 'Set a user\'s password.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_positional "gatehouse user" -eq 1' -fa 'remove' -d 'Remove a user.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_positional "gatehouse user" -eq 1' -fa 'groups' -d 'Show or change a user\'s groups.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_positional "gatehouse user" -eq 1' -fa 'attributes' -d 'Set a user\'s name or mail address; an empty text removes it.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_positional "gatehouse user" -eq 1' -fa 'enable' -d 'Enable a user: allow sign-in again.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_positional "gatehouse user" -eq 1' -fa 'disable' -d 'Disable a user: reject sign-in.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_positional "gatehouse user" -eq 1' -fa 'unlock' -d 'Unlock a user: clear the failed logins and the lock.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_positional "gatehouse user" -eq 1' -fa 'expire' -d 'Set the last day of a user\'s account.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_positional "gatehouse user" -eq 1' -fa 'import' -d 'Import the users of a file, with their passwords and groups.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user list" config' -l 'config' -d 'The configuration. Default: realms.conf in the current folder, or /etc/gatehouse/realms.conf if it is missing.' -rF
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user list"' -s 'D' -d 'The value of ${name} in the configuration.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user list" realm' -l 'realm' -d 'The realm. Default: the configuration\'s default-realm, or its only realm.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user list" json' -l 'json' -d 'Print JSON.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user list" version' -l 'version' -d 'Show the version.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user list" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user show" config' -l 'config' -d 'The configuration. Default: realms.conf in the current folder, or /etc/gatehouse/realms.conf if it is missing.' -rF
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user show"' -s 'D' -d 'The value of ${name} in the configuration.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user show" realm' -l 'realm' -d 'The realm. Default: the configuration\'s default-realm, or its only realm.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user show" json' -l 'json' -d 'Print JSON.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user show" version' -l 'version' -d 'Show the version.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user show" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user add" config' -l 'config' -d 'The configuration. Default: realms.conf in the current folder, or /etc/gatehouse/realms.conf if it is missing.' -rF
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user add"' -s 'D' -d 'The value of ${name} in the configuration.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user add" realm' -l 'realm' -d 'The realm. Default: the configuration\'s default-realm, or its only realm.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user add" password-stdin' -l 'password-stdin' -d 'Read the new password from the first line of standard input.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user add"' -l 'group' -d 'A group of the user; repeatable. A name has no comma.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user add" name' -l 'name' -d 'The name of the person, for applications.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user add" mail' -l 'mail' -d 'The mail address, for applications.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user add" no-password' -l 'no-password' -d 'Add the user without a password; the user cannot sign in until a password is set.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user add" disabled' -l 'disabled' -d 'Add the user disabled.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user add" expires' -l 'expires' -d 'The last day of the account, as in 2027-01-31 (UTC).' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user add" must-change' -l 'must-change' -d 'The user cannot sign in until the password is changed.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user add" version' -l 'version' -d 'Show the version.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user add" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user set-password" config' -l 'config' -d 'The configuration. Default: realms.conf in the current folder, or /etc/gatehouse/realms.conf if it is missing.' -rF
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user set-password"' -s 'D' -d 'The value of ${name} in the configuration.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user set-password" realm' -l 'realm' -d 'The realm. Default: the configuration\'s default-realm, or its only realm.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user set-password" password-stdin' -l 'password-stdin' -d 'Read the new password from the first line of standard input.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user set-password" must-change' -l 'must-change' -d 'The user cannot sign in until the password is changed.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user set-password" version' -l 'version' -d 'Show the version.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user set-password" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user remove" config' -l 'config' -d 'The configuration. Default: realms.conf in the current folder, or /etc/gatehouse/realms.conf if it is missing.' -rF
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user remove"' -s 'D' -d 'The value of ${name} in the configuration.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user remove" realm' -l 'realm' -d 'The realm. Default: the configuration\'s default-realm, or its only realm.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user remove" version' -l 'version' -d 'Show the version.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user remove" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user groups" config' -l 'config' -d 'The configuration. Default: realms.conf in the current folder, or /etc/gatehouse/realms.conf if it is missing.' -rF
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user groups"' -s 'D' -d 'The value of ${name} in the configuration.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user groups" realm' -l 'realm' -d 'The realm. Default: the configuration\'s default-realm, or its only realm.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user groups"' -l 'add' -d 'A group to add; repeatable. A name has no comma.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user groups"' -l 'remove' -d 'A group to remove; repeatable.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user groups" version' -l 'version' -d 'Show the version.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user groups" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user attributes" config' -l 'config' -d 'The configuration. Default: realms.conf in the current folder, or /etc/gatehouse/realms.conf if it is missing.' -rF
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user attributes"' -s 'D' -d 'The value of ${name} in the configuration.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user attributes" realm' -l 'realm' -d 'The realm. Default: the configuration\'s default-realm, or its only realm.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user attributes" name' -l 'name' -d 'The name of the person, for applications.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user attributes" mail' -l 'mail' -d 'The mail address, for applications.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user attributes" version' -l 'version' -d 'Show the version.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user attributes" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user enable" config' -l 'config' -d 'The configuration. Default: realms.conf in the current folder, or /etc/gatehouse/realms.conf if it is missing.' -rF
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user enable"' -s 'D' -d 'The value of ${name} in the configuration.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user enable" realm' -l 'realm' -d 'The realm. Default: the configuration\'s default-realm, or its only realm.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user enable" version' -l 'version' -d 'Show the version.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user enable" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user disable" config' -l 'config' -d 'The configuration. Default: realms.conf in the current folder, or /etc/gatehouse/realms.conf if it is missing.' -rF
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user disable"' -s 'D' -d 'The value of ${name} in the configuration.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user disable" realm' -l 'realm' -d 'The realm. Default: the configuration\'s default-realm, or its only realm.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user disable" version' -l 'version' -d 'Show the version.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user disable" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user unlock" config' -l 'config' -d 'The configuration. Default: realms.conf in the current folder, or /etc/gatehouse/realms.conf if it is missing.' -rF
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user unlock"' -s 'D' -d 'The value of ${name} in the configuration.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user unlock" realm' -l 'realm' -d 'The realm. Default: the configuration\'s default-realm, or its only realm.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user unlock" version' -l 'version' -d 'Show the version.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user unlock" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user expire" config' -l 'config' -d 'The configuration. Default: realms.conf in the current folder, or /etc/gatehouse/realms.conf if it is missing.' -rF
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user expire"' -s 'D' -d 'The value of ${name} in the configuration.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user expire" realm' -l 'realm' -d 'The realm. Default: the configuration\'s default-realm, or its only realm.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user expire" yes' -l 'yes' -d 'Do not ask before a day in the past is set.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_positional "gatehouse user expire" -eq 1' -fka 'never'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user expire" version' -l 'version' -d 'Show the version.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user expire" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user import" config' -l 'config' -d 'The configuration. Default: realms.conf in the current folder, or /etc/gatehouse/realms.conf if it is missing.' -rF
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user import"' -s 'D' -d 'The value of ${name} in the configuration.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user import" realm' -l 'realm' -d 'The realm. Default: the configuration\'s default-realm, or its only realm.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user import" group-file' -l 'group-file' -d 'The group file of an htpasswd file, or the file of groups or roles of WildFly.' -rF
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user import" format' -l 'format' -d 'The format: htpasswd, glassfish, authelia, keycloak, tomcat, jetty, wildfly. Without it, the name or the content of the file decides.' -rfka 'htpasswd glassfish authelia keycloak tomcat jetty wildfly'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user import"' -l 'algorithm' -d 'The algorithm of a CredentialHandler of Tomcat, such as SHA-256 or PBKDF2WithHmacSHA512; repeatable.' -rfka 'clear MD5 SHA-1 SHA-256 SHA-384 SHA-512 PBKDF2WithHmacSHA1 PBKDF2WithHmacSHA256 PBKDF2WithHmacSHA384 PBKDF2WithHmacSHA512'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user import" skip-broken' -l 'skip-broken' -d 'Skip users that cannot be read, and import users without a password if only that cannot be taken over.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_positional "gatehouse user import" -eq 1' -F
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user import" version' -l 'version' -d 'Show the version.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse user import" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse realm" version' -l 'version' -d 'Show the version.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse realm" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_positional "gatehouse realm" -eq 1' -fa 'test' -d 'Connect to the servers of a realm and look a user up, without a password.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse realm test" config' -l 'config' -d 'The configuration. Default: realms.conf in the current folder, or /etc/gatehouse/realms.conf if it is missing.' -rF
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse realm test"' -s 'D' -d 'The value of ${name} in the configuration.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse realm test" version' -l 'version' -d 'Show the version.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse realm test" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse hash" config' -l 'config' -d 'The configuration. Default: realms.conf in the current folder, or /etc/gatehouse/realms.conf if it is missing.' -rF
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse hash"' -s 'D' -d 'The value of ${name} in the configuration.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse hash" password-stdin' -l 'password-stdin' -d 'Read the new password from the first line of standard input.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse hash" calibrate' -l 'calibrate' -d 'Find argon2id parameters for the time and memory of a check.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse hash" time' -l 'time' -d 'The time of a check, in milliseconds.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse hash" memory' -l 'memory' -d 'The memory of a check, in MiB.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse hash" version' -l 'version' -d 'Show the version.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse hash" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse lockouts" version' -l 'version' -d 'Show the version.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse lockouts" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_positional "gatehouse lockouts" -eq 1' -fa 'list' -d 'List locked accounts and addresses.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_positional "gatehouse lockouts" -eq 1' -fa 'clear' -d 'Clear failed logins and locks.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse lockouts list" config' -l 'config' -d 'The configuration. Default: realms.conf in the current folder, or /etc/gatehouse/realms.conf if it is missing.' -rF
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse lockouts list"' -s 'D' -d 'The value of ${name} in the configuration.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse lockouts list" all' -l 'all' -d 'Show all accounts and addresses with failed logins, locked or not.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse lockouts list" version' -l 'version' -d 'Show the version.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse lockouts list" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse lockouts clear" config' -l 'config' -d 'The configuration. Default: realms.conf in the current folder, or /etc/gatehouse/realms.conf if it is missing.' -rF
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse lockouts clear"' -s 'D' -d 'The value of ${name} in the configuration.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse lockouts clear" realm' -l 'realm' -d 'The realm. Default: the configuration\'s default-realm, or its only realm.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse lockouts clear" user' -l 'user' -d 'An account of the realm.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse lockouts clear" source' -l 'source' -d 'An address.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse lockouts clear" all' -l 'all' -d 'All accounts and addresses.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse lockouts clear" version' -l 'version' -d 'Show the version.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse lockouts clear" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse sessions" version' -l 'version' -d 'Show the version.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse sessions" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_positional "gatehouse sessions" -eq 1' -fa 'list' -d 'List sessions.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_positional "gatehouse sessions" -eq 1' -fa 'end' -d 'End sessions.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_positional "gatehouse sessions" -eq 1' -fa 'message' -d 'Send a message to users who have a page open.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse sessions list" config' -l 'config' -d 'The configuration. Default: realms.conf in the current folder, or /etc/gatehouse/realms.conf if it is missing.' -rF
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse sessions list"' -s 'D' -d 'The value of ${name} in the configuration.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse sessions list" realm' -l 'realm' -d 'The realm. Default: the configuration\'s default-realm, or its only realm.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse sessions list" user' -l 'user' -d 'Only sessions of this user.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse sessions list" json' -l 'json' -d 'Print JSON, with an object for each host of a session.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse sessions list" version' -l 'version' -d 'Show the version.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse sessions list" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse sessions end" config' -l 'config' -d 'The configuration. Default: realms.conf in the current folder, or /etc/gatehouse/realms.conf if it is missing.' -rF
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse sessions end"' -s 'D' -d 'The value of ${name} in the configuration.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse sessions end" realm' -l 'realm' -d 'The realm. Default: the configuration\'s default-realm, or its only realm.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse sessions end" user' -l 'user' -d 'All sessions of this user of the realm.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse sessions end" all' -l 'all' -d 'All sessions.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse sessions end" version' -l 'version' -d 'Show the version.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse sessions end" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse sessions message" config' -l 'config' -d 'The configuration. Default: realms.conf in the current folder, or /etc/gatehouse/realms.conf if it is missing.' -rF
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse sessions message"' -s 'D' -d 'The value of ${name} in the configuration.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse sessions message" realm' -l 'realm' -d 'The realm. Default: the configuration\'s default-realm, or its only realm.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse sessions message" user' -l 'user' -d 'All sessions of a user of the realm.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse sessions message" all' -l 'all' -d 'All sessions.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse sessions message" version' -l 'version' -d 'Show the version.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse sessions message" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse message" version' -l 'version' -d 'Show the version.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse message" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_positional "gatehouse message" -eq 1' -fa 'set' -d 'Show a message to all users, in place of an earlier one.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_positional "gatehouse message" -eq 1' -fa 'show' -d 'Print the message and the time at which it ends.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_positional "gatehouse message" -eq 1' -fa 'clear' -d 'Remove the message.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse message set" config' -l 'config' -d 'The configuration. Default: realms.conf in the current folder, or /etc/gatehouse/realms.conf if it is missing.' -rF
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse message set"' -s 'D' -d 'The value of ${name} in the configuration.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse message set" until' -l 'until' -d 'The time at which the message ends.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse message set" version' -l 'version' -d 'Show the version.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse message set" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse message show" config' -l 'config' -d 'The configuration. Default: realms.conf in the current folder, or /etc/gatehouse/realms.conf if it is missing.' -rF
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse message show"' -s 'D' -d 'The value of ${name} in the configuration.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse message show" version' -l 'version' -d 'Show the version.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse message show" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse message clear" config' -l 'config' -d 'The configuration. Default: realms.conf in the current folder, or /etc/gatehouse/realms.conf if it is missing.' -rF
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse message clear"' -s 'D' -d 'The value of ${name} in the configuration.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse message clear" version' -l 'version' -d 'Show the version.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse message clear" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse log" config' -l 'config' -d 'The configuration. Default: realms.conf in the current folder, or /etc/gatehouse/realms.conf if it is missing.' -rF
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse log"' -s 'D' -d 'The value of ${name} in the configuration.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse log" user' -l 'user' -d 'Only entries of this user.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse log" address' -l 'address' -d 'Only entries of clients with this address.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse log" since' -l 'since' -d 'Only entries from this time on.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse log" until' -l 'until' -d 'Only entries before this time.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse log" at' -l 'at' -d 'Only entries of this time, as it is printed.' -rfka ''
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse log" failed' -l 'failed' -d 'Only refused requests and sign-ins.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse log" why' -l 'why' -d 'Print which module has decided each refused login, and which answers would have granted it.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse log" summary' -l 'summary' -d 'Show the users, addresses, reasons and rules with the most refusals.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse log" json' -l 'json' -d 'Print JSON: an object for each entry, or one for the summary.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_positional "gatehouse log" -ge 1' -F
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse log" version' -l 'version' -d 'Show the version.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse log" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_positional "gatehouse translation" -eq 1' -fka 'en de fr'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse translation" version' -l 'version' -d 'Show the version.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse translation" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'gatehouse' -n '__gatehouse_should_offer_completions_for_flags_or_options "gatehouse help" version' -l 'version' -d 'Show the version.'
